// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import { createSourceGate, type Permit } from "../../src/api/source-gate.ts";

const stranger = "203.0.113.1";
const stays = () => {};

describe("requests of one source (J12a)", () => {
  it("wait for each other beyond the most, in order, and for nobody else's", async () => {
    const gate = createSourceGate({ atOnce: 2, perSecond: 100 });
    const inside: number[] = [];
    const places: Permit[] = [];
    const enter = async (nth: number) => {
      places[nth] = await gate.enter(stranger, stays);
      inside.push(nth);
    };
    for (const nth of [0, 1, 2, 3]) void enter(nth);
    await turn();
    assert.deepEqual(inside, [0, 1]);
    await gate.enter("203.0.113.2", stays);
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
  it("are so many in a second as long as it always has some, however quick each is", async () => {
    const gate = createSourceGate({ atOnce: 10, perSecond: 50 });
    let served = 0;
    let isOver = false;
    const client = async () => {
      while (!isOver) {
        const place = await gate.enter(stranger, stays);
        served += 1;
        await turn();
        place.leave();
      }
    };
    const began = performance.now();
    const clients = Array.from({ length: 40 }, client);
    await delay(1_000);
    isOver = true;
    await Promise.all(clients);
    // The second that was saved up, and those that have passed.
    const earned = 50 + 50 * ((performance.now() - began) / 1_000);
    assert.ok(served >= 0.75 * earned && served <= 1.45 * earned, `${served} of ${earned}`);
  });
  it("of a private network, which is most likely a proxy, are fifty times as many", async () => {
    const gate = createSourceGate({ atOnce: 1, perSecond: 100 });
    let inside = 0;
    for (let nth = 0; nth < 51; nth += 1)
      void gate.enter("10.0.0.1", stays).then(() => (inside += 1));
    await turn();
    assert.equal(inside, 50);
  });
  it("of which nobody waits any more leave the line, and those behind them come earlier", async () => {
    const gate = createSourceGate({ atOnce: 1, perSecond: 100 });
    const first = await gate.enter(stranger, stays);
    let leave = () => {};
    const gone = gate.enter(stranger, (listener) => (leave = listener));
    const last = gate.enter(stranger, stays);
    leave();
    await assert.rejects(gone, { reason: "CANCELLED" });
    // Whoever is inside and goes keeps their permit until it is left.
    leave();
    first.leave();
    (await last).leave();
  });
});
