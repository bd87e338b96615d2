// Run: shared
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { describe, it } from "node:test";
import { DomainError } from "../../src/errors.ts";
import { openSqlite } from "../../src/storage/sqlite/driver.ts";
import type { Database } from "../../src/storage/database.ts";
import { eq, sql } from "../../src/storage/drizzle.ts";
import { insertRow } from "../../src/storage/row-change.ts";
import { notes, schema, unit } from "./place.ts";
import { filePlace } from "./sqlite-place.ts";

const note = (id: string) =>
  insertRow(notes, { instanceId: "one", id, body: "text", sequence: 1n });

/** Looks at so many numbers: a million take some 100 ms. */
async function counted(db: Database, numbers: number, source = "one"): Promise<unknown> {
  const [rows] = await db.lengthy(source).snapshot((read) => [
    read
      .select({
        n: sql<number>`(with recursive c(n) as (select 1 union all select n + 1 from c where n < ${numbers})
          select count(*) from c)`,
      })
      .from(db.table(notes))
      .limit(1),
  ]);
  return rows[0]?.n;
}

const commOf = (thread: string): string =>
  readFileSync(`/proc/self/task/${thread}/comm`, "utf8").trim();

async function served() {
  const place = await filePlace();
  const db = openSqlite({ path: place.path, schema, serves: true });
  await db.migrate();
  await db.commit(unit({ changes: [note("first")] }));
  return {
    db,
    async [Symbol.asyncDispose]() {
      await db[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

describe("a read of SQLite that takes long", () => {
  it("holds up neither reads nor writes", async () => {
    await using store = await served();
    const { db } = store;
    const t = db.table(notes);
    const order: string[] = [];
    const long = counted(db, 5_000_000).then((n) => order.push(`counted ${String(n)}`));
    for (let at = 0; at < 20; at++) {
      await db.commit(unit({ changes: [note(`n${at}`)] }));
      const rows = await db.read
        .select()
        .from(t)
        .where(eq(t.id, `n${at}`));
      order.push(`read ${rows[0]?.id}`);
    }
    await long;
    assert.deepEqual(order, [
      ...Array.from({ length: 20 }, (_, at) => `read n${at}`),
      "counted 5000000",
    ]);
  });

  it("is done by a thread of lower priority than that of the event loop", async () => {
    await using store = await served();
    const ofLoop = getPriority();
    const isReader = (thread: string) => commOf(thread) === "reader-thread";
    await counted(store.db, 1);
    const readers = readdirSync("/proc/self/task").filter(isReader);
    assert.notEqual(readers.length, 0);
    for (const reader of readers) assert.equal(getPriority(Number(reader)), Math.max(10, ofLoop));
    assert.equal(getPriority(), ofLoop);
  });

  it("is refused where too many wait, those of the source that has most", async () => {
    await using store = await served();
    const { db } = store;
    const flood = Promise.allSettled(
      Array.from({ length: 200 }, () => counted(db, 1_000, "flood")),
    );
    const other = await counted(db, 1_000, "other");
    assert.equal(other, 1_000);
    const refused = (await flood).flatMap((each) =>
      each.status === "rejected" ? [each.reason as unknown] : [],
    );
    assert.notEqual(refused.length, 0);
    for (const error of refused) {
      assert.ok(error instanceof DomainError);
      assert.deepEqual([error.kind, error.reason], ["unavailable", "SEARCHES_BUSY"]);
    }
  });

  it("is answered or refused when the store is closed", async () => {
    const store = await served();
    const asked = Array.from({ length: 8 }, () => counted(store.db, 1_000_000));
    const [outcomes] = await Promise.all([Promise.allSettled(asked), store[Symbol.asyncDispose]()]);
    const reasons = outcomes.flatMap((each) =>
      each.status === "rejected"
        ? [each.reason instanceof DomainError ? each.reason.reason : String(each.reason)]
        : [],
    );
    const answered = outcomes.filter((each) => each.status === "fulfilled");
    assert.equal(reasons.length + answered.length, asked.length);
    assert.notEqual(reasons.length, 0);
    assert.deepEqual(new Set(reasons), new Set(["STORE_CLOSED"]));
  });
});
