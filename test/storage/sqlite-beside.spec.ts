// Run: shared
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { open as openFile } from "../../src/storage/sqlite/open.ts";
import { happened, logOf, schema, unit } from "./place.ts";
import { filePlace } from "./sqlite-place.ts";

const scriptOf = (path: string, body: string): string[] => [
  "--input-type=module",
  "--eval",
  `import Sqlite from "better-sqlite3"; const path = ${JSON.stringify(path)}; ${body}`,
];

/** Reads a value in another process, which opens the file and closes it. */
const askBeside = (path: string, sql: string): string =>
  execFileSync(
    process.execPath,
    scriptOf(
      path,
      `const db = new Sqlite(path); console.log(db.prepare("${sql}").pluck().get()); db.close();`,
    ),
    { encoding: "utf8" },
  ).trim();

/** Starts a process that opens the file, fills and empties its log twenty times, and closes it, again and again. */
function writeBeside(path: string): AsyncDisposable {
  const body = `for (;;) {
    const db = new Sqlite(path);
    db.exec("PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS beside (x)");
    for (let round = 0; round < 20; round++) {
      db.exec("INSERT INTO beside VALUES (1)");
      try { db.exec("PRAGMA wal_checkpoint(TRUNCATE)"); } catch {}
    }
    db.close();
  }`;
  const child = spawn(process.execPath, scriptOf(path, body), { stdio: "inherit" });
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

describe("a process that opens an SQLite store again", () => {
  it("keeps its locks: another one, as it closes the file, does not take away the log (F01)", async () => {
    await using place = await filePlace();
    await using db = await place.open(schema);
    await db.migrate();
    await db.commit(unit({ events: [happened("a", 1n)] }));
    // The first time the log has frames; the second time it is empty, as closing truncates it.
    for (const _ of [1, 2]) await (await place.open(schema))[Symbol.asyncDispose]();
    const count = "SELECT count(*) FROM events";
    assert.equal(askBeside(place.path, count), "1");
    await db.commit(unit({ events: [happened("b", 1n)] }));
    assert.equal(askBeside(place.path, count), "2");
    assert.equal((await logOf(db)).length, 2);
  });
});

describe("an SQLite store that another process fills and empties", () => {
  it("is opened at any moment: its log is not taken for one that is lost (F06, F07)", async () => {
    await using place = await filePlace();
    await (await place.open(schema))[Symbol.asyncDispose]();
    await using _ = writeBeside(place.path);
    for (let round = 0; round < 1_000; round++) openFile(place.path, false).close();
  });
});
