// Run: alone, timed
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { constantTime } from "../src/constant-time.ts";

/** How long it takes, in units of what is waited for. */
async function stepsOf(work: () => unknown, stepMs: number): Promise<number> {
  const begin = performance.now();
  await work();
  return Math.floor((performance.now() - begin + 2) / stepMs);
}

describe("answers at times that tell nothing (D49, J13)", () => {
  const leastMs = 100;

  it("lets right outcomes go at once, and those that are known without a promise", () => {
    const { refusals } = constantTime(10_000);
    assert.equal(
      refusals(() => true),
      true,
    );
    assert.deepEqual(
      refusals(() => ({ isRight: true, more: 1 })),
      { isRight: true, more: 1 },
    );
  });

  it("tells of wrong ones, and of what must not be told apart at all, after the least time", async () => {
    const { refusals, always } = constantTime(leastMs);
    assert.ok((await stepsOf(() => refusals(() => false), leastMs)) >= 1);
    assert.ok((await stepsOf(() => always(async () => true), leastMs)) >= 1);
    const failing = () => always(() => Promise.reject(new Error("no")));
    assert.ok((await stepsOf(() => assert.rejects(failing(), /no/), leastMs)) >= 1);
  });

  it("takes longer steps when what it waits for takes longer, so that both ways fit in one", async () => {
    const { refusals } = constantTime(leastMs);
    const wrong = async (ms: number) => {
      await delay(ms);
      return false;
    };
    await refusals(() => wrong(0.9 * leastMs));
    assert.ok((await stepsOf(() => refusals(() => wrong(0)), leastMs)) >= 2, "nobody's answer too");
  });

  it("leaves the time of works inside of another one to that", async () => {
    const inner = constantTime(60_000);
    const { refusals } = constantTime(leastMs);
    const outcome = await refusals(async () => inner.refusals(async () => false));
    assert.equal(outcome, false);
    assert.equal(await constantTime(1).always(async () => inner.always(async () => 7)), 7);
  });
});
