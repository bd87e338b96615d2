// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { yieldToEventLoop } from "../src/yielder.ts";

/** Counts iterations of the event loop until it is stopped. */
function countIterations(): { now(): number; stop(): void } {
  let iterations = 0;
  let next = setImmediate(function count() {
    iterations += 1;
    next = setImmediate(count);
  });
  return { now: () => iterations, stop: () => clearImmediate(next) };
}

function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

describe("callers that yield to the event loop together", () => {
  it("go on in an iteration each where each takes longer than a millisecond, in their order", async () => {
    const iterations = countIterations();
    const began: { part: number; iteration: number }[] = [];
    const parts = [0, 1, 2, 3].map(async (part) => {
      await yieldToEventLoop();
      began.push({ part, iteration: iterations.now() });
      work(2);
    });
    await Promise.all(parts);
    iterations.stop();
    assert.deepEqual(
      began.map(({ part }) => part),
      [0, 1, 2, 3],
    );
    assert.equal(new Set(began.map(({ iteration }) => iteration)).size, 4);
  });

  it("go on after what has arrived", async () => {
    const order: string[] = [];
    const part = yieldToEventLoop().then(() => order.push("part"));
    await Promise.resolve().then(() => order.push("arrived"));
    await part;
    assert.deepEqual(order, ["arrived", "part"]);
  });
});
