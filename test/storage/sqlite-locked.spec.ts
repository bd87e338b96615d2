// Run: alone, long
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { openSqlite } from "../../src/storage/sqlite/driver.ts";
import { happened, logOf, notes, refusalOf, schema, unit } from "./place.ts";
import { filePlace } from "./sqlite-place.ts";

/**
 * Starts a process that takes the write lock and overwrites the header of the index, as a process would leave it that was stopped in
 * the middle of an update. Until it has ended, no connection can begin to read or recover the index.
 */
async function lockIndex(path: string): Promise<AsyncDisposable> {
  const script = `import { openSync, writeSync } from "node:fs";
    import Sqlite from "better-sqlite3";
    const db = new Sqlite(${JSON.stringify(path)});
    db.exec("BEGIN IMMEDIATE");
    writeSync(openSync(${JSON.stringify(`${path}-shm`)}, "r+"), Buffer.alloc(96), 0, 96, 0);
    console.log("locked");
    // A connection without a reference would be collected, and closed.
    setInterval(() => db.inTransaction, 1_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

const refusedAsBusy = (error: unknown) => {
  const { kind, reason, retryAfterSeconds } = refusalOf(error);
  assert.deepEqual([kind, reason, retryAfterSeconds], ["unavailable", "STORE_BUSY", 1]);
  return true;
};

describe("an SQLite store in which nobody can begin to read for ten seconds", () => {
  it("refuses reads as busy, and goes on once whoever is in the way has gone (F06)", async () => {
    await using place = await filePlace();
    await using db = openSqlite({ path: place.path, schema, serves: true });
    await db.migrate();
    await db.commit(unit({ events: [happened("a", 1n)] }));
    const all = () => db.read.select().from(db.table(notes));
    const byThread = () =>
      db.lengthy("one").snapshot((read) => [read.select().from(db.table(notes))]);
    await byThread();
    let written: Promise<unknown>;
    {
      await using _ = await lockIndex(place.path);
      const lengthy = assert.rejects(byThread(), refusedAsBusy);
      await assert.rejects(async () => all(), refusedAsBusy);
      assert.throws(() => db.catchUp(), refusedAsBusy);
      await lengthy;
      written = db.commit(unit({ events: [happened("b", 1n)] }));
    }
    await written;
    assert.deepEqual([(await all()).length, (await byThread())[0]?.length], [0, 0]);
    assert.equal((await logOf(db)).length, 2);
  });
});
