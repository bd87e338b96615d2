// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Outcome } from "../../src/storage/sqlite/apply.ts";
import { createSpread } from "../../src/storage/sqlite/spread.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

const committed = (flushMs: number, tookMs = flushMs): Outcome => ({
  kind: "committed",
  results: [],
  tookMs,
  flushMs,
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

/** In which iteration of the event loop each of so many calls begins, in the order in which they do. */
async function begunBy({ wait }: Pick<ReturnType<typeof createSpread>, "wait">, count: number) {
  let iteration = 0;
  let next = setImmediate(function goOn() {
    iteration += 1;
    next = setImmediate(goOn);
  });
  const begun: { at: number; iteration: number }[] = [];
  await Promise.all(
    numbers(count).map(async (at) => {
      await wait();
      begun.push({ at, iteration });
    }),
  );
  clearImmediate(next);
  return begun;
}

describe("calls that change something while a flush is under way", () => {
  it("wait for nothing where none is, or where it is over in a millisecond", async () => {
    assert.equal(createSpread().wait(), undefined);
    assert.equal((await flushing(1.5)).wait(), undefined);
    const spread = await flushing(1_000);
    await spread.end();
    assert.equal(spread.wait(), undefined);
  });

  it("wait for nothing where it is not the flush that takes long", async () => {
    const spread = createSpread();
    await spread.during(Promise.resolve(committed(1.5, 60_000)));
    void spread.during(new Promise(() => {}));
    assert.equal(spread.wait(), undefined);
    assert.equal(spread.wait(), undefined);
  });

  it("begin one after the other, in their order, the first at once", async () => {
    const spread = await flushing(60_000);
    assert.equal(spread.wait(), undefined);
    const began = await begunBy(spread, 5);
    assert.deepEqual(
      began.map(({ at }) => at),
      numbers(5),
    );
    assert.equal(new Set(began.map((each) => each.iteration)).size, 5);
  });

  it("begin at once where there is no time for more before the middle of the flush", async () => {
    const spread = await flushing(4_000);
    const waits = numbers(3_000).map(() => spread.wait() !== undefined);
    const count = waits.filter(Boolean).length;
    assert.ok(count > 0 && count <= 2_000, `${count} wait`);
    assert.equal(waits.at(-1), false);
    await spread.end();
  });

  it("begin together when the flush is over sooner", async () => {
    const spread = await flushing(60_000);
    assert.equal(spread.wait(), undefined);
    const all = begunBy(spread, 2_000);
    await spread.end();
    assert.equal(new Set((await all).map(({ iteration }) => iteration)).size, 1);
  });
});
