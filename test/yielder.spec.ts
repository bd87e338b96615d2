// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nextTurn } from "../src/yielder.ts";

/** Counts turns of the event loop until what it gives is called. */
function countTurns(): { now(): number; stop(): void } {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  return { now: () => turns, stop: () => clearImmediate(next) };
}

function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

describe("parts of long work that begin together", () => {
  it("have a turn of the event loop each where each takes longer than a millisecond, in the order in which they came", async () => {
    const turns = countTurns();
    const began: { part: number; turn: number }[] = [];
    const parts = [0, 1, 2, 3].map(async (part) => {
      await nextTurn();
      began.push({ part, turn: turns.now() });
      work(2);
    });
    await Promise.all(parts);
    turns.stop();
    assert.deepEqual(
      began.map(({ part }) => part),
      [0, 1, 2, 3],
    );
    assert.equal(new Set(began.map(({ turn }) => turn)).size, 4);
  });

  it("come after what has arrived", async () => {
    const order: string[] = [];
    const part = nextTurn().then(() => order.push("part"));
    await Promise.resolve().then(() => order.push("arrived"));
    await part;
    assert.deepEqual(order, ["arrived", "part"]);
  });
});
