// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startSweeper, type Sweep } from "../../src/jobs/sweeper.ts";

const everyMs = 5;
const fail = (error: unknown) => assert.fail(String(error));

async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 400 && !isSo(); turn++) await delay(5);
  assert.ok(isSo());
}

/** Has so much to remove at first. */
function heap(size: number) {
  const state = { left: size, calls: 0 };
  const sweep: Sweep = async (limit) => {
    state.calls++;
    const taken = Math.min(limit, state.left);
    state.left -= taken;
    return taken;
  };
  return { state, sweep };
}

describe("sweeping", () => {
  it("goes on until little is found, for every sweep, again and again", async () => {
    const [first, second] = [heap(250), heap(10)];
    await using _ = startSweeper({ sweeps: [first.sweep, second.sweep], onError: fail, everyMs });
    await until(() => first.state.left === 0 && second.state.left === 0);
    assert.ok(first.state.calls >= 3);
    second.state.left = 5;
    await until(() => second.state.left === 0);
  });

  it("ends a round when nothing is left, however much there was", async () => {
    const [large, small] = [heap(50_000), heap(10)];
    let callsOfSmall = 0;
    const sweep: Sweep = async (limit) => {
      const taken = await large.sweep(limit);
      // The other one is asked once in each round.
      if (large.state.left === 0) callsOfSmall ||= small.state.calls;
      return taken;
    };
    await using _ = startSweeper({ sweeps: [small.sweep, sweep], onError: fail, everyMs });
    await until(() => large.state.left === 0);
    assert.equal(callsOfSmall, 1);
  });

  it("has sweeps take turns: none waits for one that does not end", async () => {
    const [endless, other] = [heap(Infinity), heap(1_000)];
    await using _ = startSweeper({ sweeps: [endless.sweep, other.sweep], onError: fail, everyMs });
    await until(() => other.state.left === 0);
  });

  it("leaves everybody a turn of the event loop after each batch", async () => {
    const endless = heap(Infinity);
    await using _ = startSweeper({ sweeps: [endless.sweep], onError: fail, everyMs });
    await until(() => endless.state.calls > 0);
    for (let turn = 0; turn < 100; turn++) {
      const before = endless.state.calls;
      await new Promise(setImmediate);
      assert.ok(endless.state.calls - before <= 2);
    }
  });

  it("tells of a failure, and goes on in the next round", async () => {
    const errors: unknown[] = [];
    let turn = 0;
    const sweep: Sweep = async () => {
      if (turn++ === 0) throw new Error("no store");
      return 0;
    };
    await using _ = startSweeper({
      sweeps: [sweep],
      onError: (error) => void errors.push(error),
      everyMs,
    });
    await until(() => turn > 1);
    assert.deepEqual(errors.map(String), ["Error: no store"]);
  });

  it("ends with the batch at work when it is stopped", async () => {
    const { state, sweep } = heap(Infinity);
    const sweeper = startSweeper({
      sweeps: [
        async (limit) => {
          await delay(5);
          return sweep(limit);
        },
      ],
      onError: fail,
      everyMs,
    });
    await until(() => state.calls > 0);
    await sweeper[Symbol.asyncDispose]();
    const { calls } = state;
    await delay(30);
    assert.equal(state.calls, calls);
  });
});
