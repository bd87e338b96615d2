import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createSourceGate, type Place } from "../../src/api/source-gate.ts";

const stranger = "203.0.113.1";

describe("requests of one source (J12a)", () => {
  it("wait for each other beyond the most, in order, and for nobody else's", async () => {
    const gate = createSourceGate(2);
    const inside: number[] = [];
    const places: Place[] = [];
    const enter = async (nth: number) => {
      places[nth] = await gate.enter(stranger);
      inside.push(nth);
    };
    for (const nth of [0, 1, 2, 3]) void enter(nth);
    await turn();
    assert.deepEqual(inside, [0, 1]);
    await gate.enter("203.0.113.2");
    places[0]?.leave();
    // A place is given back once.
    places[0]?.leave();
    await turn();
    await turn();
    assert.deepEqual(inside, [0, 1, 2]);
    places[1]?.leave();
    await turn();
    await turn();
    assert.deepEqual(inside, [0, 1, 2, 3]);
  });
  it("of a private network, which is most likely a proxy, are fifty times as many", async () => {
    const gate = createSourceGate(1);
    let inside = 0;
    for (let nth = 0; nth < 51; nth += 1) void gate.enter("10.0.0.1").then(() => (inside += 1));
    await turn();
    assert.equal(inside, 50);
  });
});
