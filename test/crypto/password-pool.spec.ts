// Run: shared, timed
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, it } from "node:test";
import { createPasswordPool } from "../../src/crypto/password-pool.ts";
import { DomainError } from "../../src/errors.ts";

const hash = { op: "hash", password: "secret" } as const;
const is = (kind: string, reason: string, retryAfterSeconds?: number) => (error: unknown) => {
  assert.ok(error instanceof DomainError, String(error));
  assert.deepEqual(
    [error.kind, error.reason, error.retryAfterSeconds],
    [kind, reason, retryAfterSeconds],
  );
  return true;
};
const script = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

describe("the threads that hash passwords (F22)", () => {
  it("leave the event loop and the threads of files alone", async () => {
    await using pool = createPasswordPool({ threads: 2, mostWaiting: 100 });
    await pool.run(hash);
    let isOver = false;
    const work = Promise.all(Array.from({ length: 40 }, () => pool.run(hash))).finally(
      () => (isOver = true),
    );
    const loop = monitorEventLoopDelay({ resolution: 1 });
    loop.enable();
    let reads = 0;
    let slowest = 0;
    for (; !isOver; reads++) {
      const began = performance.now();
      await readFile(import.meta.filename);
      slowest = Math.max(slowest, performance.now() - began);
    }
    await work;
    loop.disable();
    // libuv has four threads: with hashes on them, a read would wait for ten rounds of hashing.
    assert.ok(slowest < 200, `a file took ${slowest} ms`);
    assert.ok(loop.percentile(99) / 1e6 < 50, `the loop stood still for ${loop.max / 1e6} ms`);
    assert.ok(reads > 10);
  });
  it("take so many in a queue and refuse more at once, saying when to try again", async () => {
    await using pool = createPasswordPool({ threads: 1, mostWaiting: 3 });
    const began = performance.now();
    const tries = Array.from({ length: 10 }, () => pool.run(hash));
    let done = 0;
    for (const taken of tries.slice(0, 4)) void taken.then(() => (done += 1));
    const refused = tries
      .slice(4)
      .map((promise) => assert.rejects(promise, is("unavailable", "PASSWORD_HASHING_BUSY", 2)));
    await Promise.all(refused);
    const took = performance.now() - began;
    assert.ok(took < 50, `${took} ms`);
    assert.equal(done, 0);
    for (const phc of await Promise.all(tries.slice(0, 4))) assert.match(phc, /^\$argon2id\$/);
    assert.match(await pool.run(hash), /^\$argon2id\$/);
  });
  it("answer what cannot be done with an error, and go on", async () => {
    await using pool = createPasswordPool({ threads: 1, mostWaiting: 3 });
    const broken = { op: "verify", password: "x", phc: "$argon2id$broken" } as const;
    await assert.rejects(pool.run(broken), is("internal", "PASSWORD_HASHING_FAILED"));
    assert.match(await pool.run(hash), /^\$argon2id\$/);
  });
  it("are replaced when they die, and only the task at work hears of it", async () => {
    const dying = script(`
      import { parentPort } from "node:worker_threads";
      let tasks = 0;
      parentPort.on("message", () => {
        if (++tasks === 2) process.exit(1);
        parentPort.postMessage({ result: String(tasks) });
      });`);
    await using pool = createPasswordPool({ threads: 1, mostWaiting: 9 }, dying);
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => pool.run(hash)));
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : "lost")),
      ["1", "lost", "1", "lost", "1"],
    );
    await assert.rejects(pool.run(hash), is("internal", "PASSWORD_HASHING_FAILED"));
  });
  it("see nothing of the environment, where keys may lie", async () => {
    const telling = script(`
      import { parentPort } from "node:worker_threads";
      parentPort.on("message", () =>
        parentPort.postMessage({ result: JSON.stringify(process.env) }));`);
    process.env["IDSVC_TEST_SECRET"] = "marker";
    try {
      await using pool = createPasswordPool({ threads: 1, mostWaiting: 1 }, telling);
      assert.equal(await pool.run(hash), "{}");
    } finally {
      Reflect.deleteProperty(process.env, "IDSVC_TEST_SECRET");
    }
  });
});
