// Run: alone
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startTestApp } from "../support/app.ts";
import { connect } from "../storage/sqlite-place.ts";
import { check } from "./checker.ts";
import type { Entry } from "./client-log.ts";
import { createWriters } from "./writers.ts";

const folder = () => {
  const path = mkdtempSync(join(tmpdir(), "idsvc-checker-"));
  after(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

/** Whether an execution names a target that is still there: without one, there is no such row to tamper with. */
function isWired(dataDir: string): boolean {
  using connection = connect(join(dataDir, "idsvc.db"));
  return connection.prepare("SELECT 1 FROM execution_targets").raw().get() !== undefined;
}

/** A store that writers have filled, and their log. */
async function filled(): Promise<{ dataDir: string; log: readonly Entry[] }> {
  const dataDir = folder();
  // The checker reads the file; what it finds is the same on every engine.
  const app = await startTestApp({
    dataDir,
    env: { IDSVC_DATABASE_URL: join(dataDir, "idsvc.db") },
  });
  const writers = createWriters(4, app.token);
  const wrote = (op: Entry["op"]) =>
    writers.log.filter((entry) => entry.op === op && entry.outcome === "acknowledged").length;
  const end = Date.now() + 60_000;
  do {
    await using running = writers.run(app.url);
    do {
      assert.ok(Date.now() < end, "the writers write too little");
      await delay(10);
    } while (
      Math.min(wrote("create"), wrote("patch"), wrote("delete"), wrote("put"), wrote("read")) < 5
    );
    await running.stop();
  } while (!isWired(dataDir));
  await app[Symbol.asyncDispose]();
  return { dataDir, log: writers.log };
}

const store = await filled();

/** The violations after statements were run on a copy of the store, as somebody with the file could. */
async function afterTampering(...statements: string[]): Promise<string> {
  const dataDir = folder();
  cpSync(store.dataDir, dataDir, { recursive: true });
  {
    using connection = connect(join(dataDir, "idsvc.db"));
    for (const statement of statements) {
      const { changes } = connection.prepare(statement).run();
      assert.ok(changes > 0 || statement.startsWith("DROP"), `${statement} changed nothing`);
    }
  }
  return (await check({ dataDir }, store.log)).join("\n");
}

const acknowledged = (op: Entry["op"]): Entry => {
  const found = store.log.find((entry) => entry.op === op && entry.outcome === "acknowledged");
  assert.ok(found);
  return found;
};
const withLog = async (log: readonly Entry[]) => (await check(store, log)).join("\n");
const unguarded = ["DROP TRIGGER events_no_update", "DROP TRIGGER events_no_delete"];

describe("the checker", () => {
  it("finds nothing in a store that nothing befell", async () =>
    assert.deepEqual(await check(store, store.log), []));

  for (const op of ["create", "patch", "delete", "put"] as const)
    it(`finds an acknowledged ${op} that is not in the store`, async () => {
      const forged: Entry = { ...acknowledged(op), mark: "mark-999999", id: "1", sequence: 7n };
      assert.match(await withLog([...store.log, forged]), /of 1: acknowledged at 7, not there/);
    });
  it("finds a write that was acknowledged at another sequence", async () => {
    const entry = acknowledged("create");
    const log = store.log.map((each) =>
      each === entry ? { ...each, sequence: each.sequence + 1n } : each,
    );
    assert.match(await withLog(log), new RegExp(`${entry.mark} of ${entry.id}: acknowledged at`));
  });
  it("finds a write that was refused and is there", async () => {
    const entry = acknowledged("patch");
    const log = store.log.map((each) =>
      each === entry ? { ...each, outcome: "refused" as const } : each,
    );
    assert.match(await withLog(log), new RegExp(`${entry.mark} .*refused, yet there`));
  });
  it("finds a write that nobody sent", async () => {
    const entry = acknowledged("create");
    const log = store.log.filter((each) => each !== entry);
    assert.match(await withLog(log), new RegExp(`${entry.mark} was written by nobody`));
  });
  it("finds a read that did not show the reader's own write", async () => {
    const stale: Entry = { ...acknowledged("read"), sequence: 3n, atLeast: 4n };
    assert.match(await withLog([...store.log, stale]), /showed 3 after 4/);
  });

  const { id } = acknowledged("create");
  for (const [what, statements, says] of [
    [
      "an event that was removed",
      [...unguarded, "DELETE FROM events WHERE sequence = (SELECT max(sequence) - 3 FROM events)"],
      /sequence \d+ stands where/,
    ],
    [
      "the last events cut off",
      [...unguarded, "DELETE FROM events WHERE sequence > (SELECT max(sequence) - 3 FROM events)"],
      /head: .* is too many/,
    ],
    [
      "an event whose version was changed",
      [
        ...unguarded,
        // Far beyond the versions of the target: how often the writers patched it is chance.
        `UPDATE events SET aggregate_version = 1000000 WHERE aggregate_id = '${id}' AND aggregate_version = 1`,
      ],
      /has version 1000000 where 1 belongs/,
    ],
    [
      "a row of a projection that was changed",
      ["UPDATE targets SET timeout_ms = timeout_ms + 1 WHERE id = (SELECT min(id) FROM targets)"],
      /projection targets: 2 rows differ/,
    ],
    [
      "a row of a projection that was removed",
      [
        "DELETE FROM execution_targets WHERE target_id = (SELECT min(target_id) FROM execution_targets)",
      ],
      /projection execution_targets: \d+ rows differ/,
    ],
    [
      "a claim that is not held",
      ["DELETE FROM claims WHERE kind = 'instance.domain' AND value = 'localhost'"],
      /claim: .*localhost.* is missing/,
    ],
    [
      "a claim that nobody took",
      ["INSERT INTO claims VALUES ('', 'target.name', 'x', 'target', '1')"],
      /claim: .* is too many/,
    ],
    [
      "a target without its signing key",
      [
        "DELETE FROM secrets WHERE kind = 'signing_key' AND owner_id = (SELECT min(id) FROM targets)",
      ],
      /signing key: \d+ is missing/,
    ],
    [
      "a count of rows that is wrong",
      ["UPDATE row_counts SET rows = rows + 1 WHERE table_name = 'targets'"],
      /count of targets: .* is too many/,
    ],
  ] as const)
    it(`finds ${what}`, async () => assert.match(await afterTampering(...statements), says));
});
