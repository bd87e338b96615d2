// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Outcome } from "../../src/storage/sqlite/apply.ts";
import { createSpread } from "../../src/storage/sqlite/spread.ts";

const milliseconds = (count: number) => Array.from({ length: count }, (_, at) => at);

const committed = (tookMs: number): Outcome => ({
  kind: "committed",
  results: [],
  tookMs,
  flushMs: tookMs,
});

/** While a batch is flushed, after one that took so long. */
async function flushing(ms: number) {
  const spread = createSpread();
  await spread.during(Promise.resolve(committed(ms)));
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const over = spread.during(promise);
  const end = async (outcome = committed(ms)) => {
    resolve(outcome);
    await over;
  };
  return { wait: spread.wait, end };
}

describe("decisions while a flush is under way", () => {
  it("wait for nothing where none is, or where it is over in a millisecond", async () => {
    assert.equal(createSpread().wait(), undefined);
    assert.equal((await flushing(1.5)).wait(), undefined);
    const spread = await flushing(1_000);
    await spread.end();
    assert.equal(spread.wait(), undefined);
  });

  it("begin one after the other, in their order, the first at once", async () => {
    const spread = await flushing(1_000);
    assert.equal(spread.wait(), undefined);
    let iteration = 0;
    let next = setImmediate(function count() {
      iteration += 1;
      next = setImmediate(count);
    });
    const began: { at: number; iteration: number }[] = [];
    await Promise.all(
      milliseconds(5).map(async (at) => {
        await spread.wait();
        began.push({ at, iteration });
      }),
    );
    clearImmediate(next);
    assert.deepEqual(
      began.map(({ at }) => at),
      milliseconds(5),
    );
    assert.equal(new Set(began.map((each) => each.iteration)).size, 5);
  });

  it("begin at once where there is no time for more before the middle of the flush", async () => {
    const spread = await flushing(200);
    const waits = milliseconds(300).map(() => spread.wait() !== undefined);
    const count = waits.filter(Boolean).length;
    assert.ok(count > 0 && count <= 100, `${count} wait`);
    assert.equal(waits.at(-1), false);
  });

  it("begin together when the flush is over sooner", async () => {
    const spread = await flushing(60_000);
    assert.equal(spread.wait(), undefined);
    const all = milliseconds(2_000).map(async () => {
      await spread.wait();
    });
    await spread.end();
    await Promise.all(all);
  });
});
