// Run: shared, costly
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { createPasswordPool } from "../../src/crypto/password-pool.ts";
import { DomainError } from "../../src/errors.ts";
import { measureHolds } from "../support/loop-holds.ts";

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
    using holds = measureHolds();
    let reads = 0;
    for (; !isOver; reads++) await readFile(import.meta.filename);
    await work;
    // libuv has four threads: with the hashes on them, each of the calls that read a file would wait for ten rounds of hashing.
    assert.ok(reads > 10, `${reads} files were read while 40 passwords were hashed`);
    assert.ok(holds.longestMs() < 50, `the loop was held for ${holds.longestMs()} ms`);
  });
  it("take so many in a queue and refuse more at once, saying when to try again", async () => {
    await using pool = createPasswordPool({ threads: 1, mostWaiting: 3 });
    const tries = Array.from({ length: 10 }, () => pool.run(hash));
    let done = 0;
    for (const taken of tries.slice(0, 4)) void taken.then(() => (done += 1));
    const refused = tries
      .slice(4)
      .map((promise) => assert.rejects(promise, is("unavailable", "PASSWORD_HASHING_BUSY", 2)));
    await Promise.all(refused);
    assert.equal(done, 0, "they are refused before any other is done");
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
  it("see nothing of the environment, where keys may lie, but where compiled code is kept", async () => {
    const telling = script(`
      import { parentPort } from "node:worker_threads";
      parentPort.on("message", () =>
        parentPort.postMessage({ result: JSON.stringify(process.env) }));`);
    process.env["IDSVC_TEST_SECRET"] = "marker";
    try {
      await using pool = createPasswordPool({ threads: 1, mostWaiting: 1 }, telling);
      const { NODE_COMPILE_CACHE: kept } = process.env;
      assert.ok(kept !== undefined);
      assert.deepEqual(JSON.parse(await pool.run(hash)), { NODE_COMPILE_CACHE: kept });
    } finally {
      Reflect.deleteProperty(process.env, "IDSVC_TEST_SECRET");
    }
  });
});
