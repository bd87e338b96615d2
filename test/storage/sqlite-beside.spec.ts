// Run: shared
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { happened, logOf, schema, unit } from "./place.ts";
import { filePlace } from "./sqlite-place.ts";

/** What a command beside the service answers, which opens the file, asks, and closes it. */
function askBeside(path: string, sql: string): string {
  const script = `import Sqlite from "better-sqlite3";
    const db = new Sqlite(${JSON.stringify(path)});
    console.log(db.prepare(${JSON.stringify(sql)}).pluck().get());
    db.close();`;
  const flags = ["--input-type=module", "--eval"];
  return execFileSync(process.execPath, [...flags, script], { encoding: "utf8" }).trim();
}

describe("a process that opens an SQLite store again", () => {
  it("keeps its locks: another one, as it closes the file, does not take away the log (F01)", async () => {
    await using place = await filePlace();
    await using db = await place.open(schema);
    await db.migrate();
    await db.commit(unit({ events: [happened("a", 1n)] }));
    // With something in the log; that one empties it as it is closed, so with nothing.
    for (const _ of [1, 2]) await (await place.open(schema))[Symbol.asyncDispose]();
    const count = "SELECT count(*) FROM events";
    assert.equal(askBeside(place.path, count), "1");
    await db.commit(unit({ events: [happened("b", 1n)] }));
    assert.equal(askBeside(place.path, count), "2");
    assert.equal((await logOf(db)).length, 2);
  });
});
