// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createThreadPool } from "../../src/threads/pool.ts";

/** Answers each message with the ID of the thread, after so many milliseconds. */
const script = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from "node:worker_threads";
    import { setTimeout as delay } from "node:timers/promises";
    parentPort.on("message", async (ms) => {
      await delay(ms);
      parentPort.postMessage({ result: threadId });
    });
  `)}`,
);
const refused = (cause: unknown) => new Error("refused", { cause });

const poolOf = (idleMs: number) =>
  createThreadPool<number, number>({
    script,
    threads: 1,
    mostWaiting: 10,
    idleMs,
    refusals: { busy: () => refused("busy"), failed: refused },
  });

describe("a pool of threads", () => {
  it("keeps a thread that has something to do soon", async () => {
    await using pool = poolOf(60_000);
    const first = await pool.run(0);
    assert.equal(await pool.run(0), first);
  });

  it("ends a thread that has had nothing to do for long, and starts another one when there is something", async () => {
    await using pool = poolOf(20);
    const first = await pool.run(0);
    let next = first;
    for (let tries = 0; next === first && tries < 100; tries += 1) {
      await delay(100);
      next = await pool.run(0);
    }
    assert.notEqual(next, first);
  });

  it("refuses what it is given once it is closed, and starts no thread for it", async () => {
    const pool = poolOf(60_000);
    await pool[Symbol.asyncDispose]();
    await assert.rejects(pool.run(0), { message: "refused", cause: "the pool is closed" });
  });

  it("ends none while it is at work", async () => {
    await using pool = poolOf(20);
    const [first, ...others] = await Promise.all([pool.run(0), pool.run(200), pool.run(0)]);
    assert.deepEqual(others, [first, first]);
  });
});
