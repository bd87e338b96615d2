// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Outcome } from "../../src/storage/sqlite/apply.ts";
import type { CompiledUnit } from "../../src/storage/sqlite/compile.ts";
import { writeByFlush } from "../../src/storage/sqlite/writer.ts";

const quickMs = 10;
const done: Outcome = { kind: "committed", results: [], tookMs: 1, flushMs: 1 };

/** Who writes batches whose units have so many statements each. */
async function whoWrites(...batches: number[][]): Promise<string[]> {
  const by: string[] = [];
  const note = (who: string) => {
    by.push(who);
    return done;
  };
  const writer = writeByFlush(
    { commit: () => note("here"), emptyLog: () => done, close: () => {} },
    () => ({
      isReady: () => true,
      commit: async () => note("thread"),
      emptyLog: async () => done,
      close: async () => {},
    }),
    quickMs,
  );
  const unitOf = (steps: number): CompiledUnit => ({
    instanceId: "one",
    events: 0,
    createdAt: 0,
    steps: Array.from({ length: steps }, () => ({ statement: 0, values: [] })),
  });
  for (const batch of batches) await writer.commit(batch.map(unitOf), []);
  return by;
}

describe("writing an SQLite store while flushes are quick", () => {
  it("is done by the thread that answers, of small units up to what holds it up for some milliseconds", async () => {
    const many = Array.from({ length: 200 }, () => 10);
    assert.deepEqual(await whoWrites([1], [400], many), ["here", "here", "here"]);
    assert.deepEqual(await whoWrites([...many, 1]), ["thread"]);
  });

  it("is done by a thread of its own, of a unit with the statements of many", async () => {
    assert.deepEqual(await whoWrites([401], [1, 401], [1]), ["thread", "thread", "here"]);
  });
});
