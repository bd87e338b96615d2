// Run: shared, store
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Page, search } from "../../src/projection/search.ts";
import type { MigratableDatabase } from "../../src/storage/database.ts";
import type { SQL } from "../../src/storage/drizzle.ts";
import { insertRow } from "../../src/storage/row-change.ts";
import { notes, type Place, schema, unit } from "../storage/place.ts";
import { databasePlace } from "../storage/postgres-place.ts";
import { servedPlace } from "../storage/sqlite-place.ts";
import { engine } from "../support/app.ts";

const many = 12_000;
const idOf = (at: number) => `n${String(at).padStart(6, "0")}`;
// What a cursor is sealed with is no matter of these tests.
const secrets = {
  sealText: async (_: string, purpose: string, clear: Uint8Array) =>
    `${purpose}|${Buffer.from(clear).toString("base64url")}`,
  openText: async (_: string, purpose: string, sealed: string) =>
    sealed.startsWith(`${purpose}|`)
      ? Buffer.from(sealed.slice(purpose.length + 1), "base64url")
      : undefined,
};

describe("a search among so many rows that it is asked where it holds up nobody", () => {
  let place: Place;
  let db: MigratableDatabase;
  /** The snapshots that may take long, by whose they are. */
  const looks: string[] = [];
  before(async () => {
    place = engine === "postgres" ? await databasePlace() : await servedPlace();
    db = await place.open(schema);
    await db.migrate();
    const { lengthy } = db;
    db.lengthy = (source) => ({
      snapshot(build) {
        looks.push(source);
        return lengthy.call(db, source).snapshot(build);
      },
    });
    for (let from = 0; from < many; from += 1_000) {
      const changes = Array.from({ length: 1_000 }, (_, nth) => {
        const at = from + nth;
        const body = `${at % 3 === 0 ? "third" : "other"} ${at % 4_000}`;
        return insertRow(notes, { instanceId: "one", id: idOf(at), body, sequence: BigInt(at) });
      });
      await db.commit(unit({ changes }));
    }
  });
  after(async () => {
    await db[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });

  const find = (filters: SQL[], page: Partial<Page> = {}, looksAtEach = true) =>
    search(db, notes, {
      instanceId: "one",
      filters,
      looksAtEach,
      order: db.table(notes).id,
      page: { offset: 0n, limit: 100, asc: true, after: "", skipTotal: false, ...page },
      limits: { listDefault: 100, listMax: 1_000 },
      cursors: { secrets, instanceId: "one", list: "test" },
    });
  const holding = (text: string) => [db.contains(db.table(notes).body, text)];

  it("finds what few rows hold, with the total", async () => {
    const found = await find(holding("third 3999"));
    const expected = [3_999, 7_999, 11_999].filter((at) => at % 3 === 0).map(idOf);
    assert.deepEqual(
      found.rows.map(({ id }) => id),
      expected,
    );
    assert.equal(found.total, BigInt(expected.length));
    assert.ok(found.endOfList);
  });
  it("finds those of few that follow a cursor or an offset, with the total of all", async () => {
    const few = holding("third 399");
    const { rows, total } = await find(few);
    const ids = rows.map(({ id }) => id);
    assert.equal(total, BigInt(ids.length));
    assert.ok(ids.length > 6, `${ids.length} match`);
    const shown = async (page: Partial<Page>) => {
      const found = await find(few, { limit: 2, ...page });
      const isCounted = page.skipTotal !== true;
      assert.equal(found.total, isCounted ? total : 0n);
      return { ids: found.rows.map(({ id }) => id), next: found.next };
    };
    const { next } = await shown({});
    assert.deepEqual((await shown({ after: next })).ids, ids.slice(2, 4));
    assert.deepEqual((await shown({ after: next, skipTotal: true })).ids, ids.slice(2, 4));
    assert.deepEqual((await shown({ offset: 3n })).ids, ids.slice(3, 5));
    assert.deepEqual((await shown({ offset: 2_000n })).ids, []);
    const last = await find(few, { limit: ids.length - 1 });
    assert.deepEqual((await shown({ after: last.next })).ids, ids.slice(-1));
  });
  it("looks at each row once where few or none match", async () => {
    for (const text of ["third 3999", "nobody"]) {
      const earlier = looks.length;
      await find(holding(text), { skipTotal: true });
      assert.equal(looks.length, earlier + 1);
    }
  });
  it("goes on by the cursor through all that match, each once", async () => {
    const ids: string[] = [];
    for (let next = ""; ; ) {
      const found = await find(holding("third"), { after: next, limit: 1_000 });
      assert.equal(found.total, BigInt(many / 3));
      ids.push(...found.rows.map(({ id }) => id));
      next = found.next;
      if (next === "") break;
    }
    assert.deepEqual(
      ids,
      Array.from({ length: many / 3 }, (_, nth) => idOf(3 * nth)),
    );
  });
  it("finds a page in the middle by its offset, and what was written a moment ago", async () => {
    const { rows } = await find([], { offset: 6_000n, limit: 2, asc: false }, false);
    assert.deepEqual(
      rows.map(({ id }) => id),
      [idOf(5_999), idOf(5_998)],
    );
    const row = { instanceId: "one", id: "z", body: "the newest", sequence: 1n };
    await db.commit(unit({ changes: [insertRow(notes, row)] }));
    assert.deepEqual((await find(holding("the newest"))).rows, [row]);
  });
});
