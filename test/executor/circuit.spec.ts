// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCircuits } from "../../src/executor/circuit.ts";
import { createSemaphores } from "../../src/executor/semaphores.ts";

const target = { id: "t1", url: "http://a.test/" };

function tripped() {
  const clock = { at: 0 };
  const circuits = createCircuits({ now: () => clock.at, random: () => 0 });
  const fail = () => {
    assert.ok(circuits.begin(target));
    circuits.end(target, false);
  };
  for (let n = 0; n < 10; n++) fail();
  return { clock, circuits, fail };
}

describe("a target that fails ten times in a row", () => {
  it("is spared for a second, then tried by one call at a time", () => {
    const { clock, circuits } = tripped();
    assert.equal(circuits.begin(target), false);
    assert.deepEqual([...circuits.limits()], [["t1", 0]]);
    clock.at = 1_000;
    assert.deepEqual([...circuits.limits()], [["t1", 1]]);
    assert.equal(circuits.begin(target), true);
    assert.equal(circuits.begin(target), false);
    circuits.end(target, true);
    assert.equal(circuits.limits().size, 0);
    assert.equal(circuits.begin(target), true);
  });

  it("is spared twice as long each time a try fails, a minute at most", () => {
    const { clock, circuits, fail } = tripped();
    for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
      clock.at += seconds * 1_000 - 1;
      assert.equal(circuits.begin(target), false, `${seconds} s`);
      clock.at += 1;
      fail();
    }
  });

  it("is known no more at another address, and late ends at the old one tell nothing", () => {
    const { circuits } = tripped();
    const moved = { ...target, url: "http://b.test/" };
    assert.equal(circuits.begin(moved), true);
    circuits.end(target, false);
    assert.equal(circuits.limits().size, 0);
  });

  it("stays as it is when a try is given up, and can be tried again", () => {
    const { clock, circuits } = tripped();
    clock.at = 1_000;
    assert.ok(circuits.begin(target));
    circuits.end(target, undefined);
    assert.ok(circuits.begin(target));
  });
});

describe("the semaphore of a target", () => {
  it("gives permits in the order of asking, and not to who has waited too long", async () => {
    const semaphores = createSemaphores({ atOnce: 1, mostWaiting: 2 });
    const first = await semaphores.acquire("t", 1_000, undefined);
    const late = semaphores.acquire("t", 10, undefined);
    const second = semaphores.acquire("t", 1_000, undefined);
    assert.equal(await semaphores.acquire("t", 1_000, undefined), "full");
    assert.equal(await late, "late");
    assert.ok(typeof first === "object");
    first.release();
    const permit = await second;
    assert.ok(typeof permit === "object");
    permit.release();
    assert.ok(typeof semaphores.acquire("t", 1, undefined) === "object");
  });

  it("takes the permit back from a caller who goes", async () => {
    const semaphores = createSemaphores({ atOnce: 1, mostWaiting: 2 });
    const first = await semaphores.acquire("t", 1_000, undefined);
    const going = new AbortController();
    const gone = semaphores.acquire("t", 1_000, going.signal);
    going.abort();
    assert.equal(await gone, "late");
    assert.ok(typeof first === "object");
    first.release();
  });
});
