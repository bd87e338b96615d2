// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Clock, constantTime } from "../src/constant-time.ts";
import { areaUnderCurve, mostAdvantage } from "./support/classifier.ts";

const leastMs = 100;

/** A clock that goes on by what is waited for, and by nothing else. */
function ownClock(): Clock & { pass(ms: number): void } {
  let time = 0;
  const pass = (ms: number) => void (time += ms);
  return { now: () => time, wait: async (ms) => pass(ms), pass };
}

/** Checks on a clock of their own, and how long each takes until its outcome is told. */
function checksOf(constant: (clock: Clock) => ReturnType<typeof constantTime>) {
  const clock = ownClock();
  const { refusals, always } = constant(clock);
  const timed = async (work: () => Promise<unknown>) => {
    const begin = clock.now();
    await work();
    return clock.now() - begin;
  };
  const after = async <T>(ms: number, outcome: T): Promise<T> => {
    clock.pass(ms);
    return outcome;
  };
  return {
    refused: (ms: number) => timed(() => refusals(() => after(ms, false))),
    right: (ms: number) => timed(() => refusals(() => after(ms, true))),
    always: (ms: number) => timed(() => always(() => after(ms, true))),
    failing: (ms: number) =>
      timed(() =>
        assert.rejects(
          always(() => after(ms, undefined).then(() => Promise.reject(new Error("no")))),
          /no/,
        ),
      ),
  };
}

const usual = () => checksOf((clock) => constantTime(leastMs, clock));

describe("answers at times that tell nothing (D49, J13)", () => {
  it("lets right outcomes go at once, and those that are known without a promise", async () => {
    const { refusals } = constantTime(10_000);
    assert.equal(
      refusals(() => true),
      true,
    );
    assert.deepEqual(
      refusals(() => ({ isRight: true, more: 1 })),
      { isRight: true, more: 1 },
    );
    assert.equal(await usual().right(7), 7);
  });

  it("tells of wrong ones, and of what must not be told apart at all, at a full step", async () => {
    const { refused, always, failing } = usual();
    for (const ms of [0, 3, 60]) {
      assert.equal(await refused(ms), leastMs);
      assert.equal(await always(ms), leastMs);
      assert.equal(await failing(ms), leastMs);
    }
  });

  it("takes longer steps when what it waits for takes longer, so that both ways fit in one", async () => {
    const { refused } = usual();
    assert.equal(await refused(0.9 * leastMs), 2 * leastMs);
    assert.equal(await refused(0), 2 * leastMs, "nobody's answer too");
    assert.equal(await refused(5 * leastMs), 8 * leastMs);
    assert.equal(await refused(0), 8 * leastMs);
  });

  it("takes the shorter steps again when all of the last works fit in them", async () => {
    const { refused } = usual();
    await refused(3 * leastMs);
    for (let count = 0; count < 63; count += 1) assert.equal(await refused(1), 8 * leastMs);
    await refused(1);
    assert.equal(await refused(1), leastMs);
  });

  it("takes no steps longer than two seconds", async () => {
    assert.equal(await usual().refused(5_000), 6_000);
  });

  it("leaves the time of works inside of another one to that", async () => {
    const inner = constantTime(60_000);
    const { refusals } = constantTime(1);
    const outcome = await refusals(async () => inner.refusals(async () => false));
    assert.equal(outcome, false);
    assert.equal(await constantTime(1).always(async () => inner.always(async () => 7)), 7);
  });
});

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe("a classifier of times (D49)", () => {
  it("tells values of two kinds apart where they differ, and not where they do not", () => {
    assert.equal(areaUnderCurve([3, 4], [1, 2]), 1);
    assert.equal(areaUnderCurve([1, 2], [3, 4]), 0);
    assert.equal(areaUnderCurve([1, 1, 2], [1, 1, 2]), 0.5);
    assert.equal(areaUnderCurve([1, 3], [2, 2]), 0.5);
  });

  // Of what is done for somebody and for nobody: the means in milliseconds, and how the machine slows both down.
  const machines: Record<string, (turn: number, random: () => number) => number> = {
    "that is quiet": () => 1,
    "that is busy all the time": () => 12,
    "that is busy now and then": (_, random) => (random() < 0.1 ? 20 : 1),
    "that gets busier and busier": (turn) => 1 + turn / 20,
    "that is busy every other minute": (turn) => (Math.floor(turn / 100) % 2 === 0 ? 1 : 15),
  };
  for (const [machine, slowed] of Object.entries(machines)) {
    it(`tells nobody from somebody by what was done for them, not by the answers, on a machine ${machine}`, async () => {
      const random = numbersFrom(7);
      const { refused } = usual();
      const work = { somebody: [] as number[], nobody: [] as number[] };
      const answers = { somebody: [] as number[], nobody: [] as number[] };
      for (let turn = 0; turn < 1_000; turn += 1) {
        for (const whom of random() < 0.5
          ? (["somebody", "nobody"] as const)
          : (["nobody", "somebody"] as const)) {
          const mean = whom === "somebody" ? 6 : 1;
          const ms = mean * (0.5 + random()) * slowed(turn, random);
          work[whom].push(ms);
          answers[whom].push(await refused(ms));
        }
      }
      assert.ok(areaUnderCurve(work.somebody, work.nobody) > 0.7);
      const area = areaUnderCurve(answers.somebody, answers.nobody);
      assert.ok(Math.abs(area - 0.5) <= mostAdvantage, String(area));
    });
  }
});
