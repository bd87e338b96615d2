import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rowCounts } from "../../src/storage/kernel-tables.ts";
import {
  deleteRows,
  insertRow,
  PendingSequence,
  putRow,
  updateRows,
} from "../../src/storage/row-change.ts";
import type { Fresh } from "./contract.ts";
import { happened, notes, samples, someSample, unit } from "./place.ts";

const note = (id: string, body = "text") =>
  insertRow(notes, { instanceId: "one", id, body, sequence: new PendingSequence(0) });

/** What changes of rows do, one by one and many at once. */
export function rowChangeContract(fresh: () => Promise<Fresh>): void {
  const all = ({ db }: Fresh) => db.read.select().from(db.table(notes)).orderBy(db.table(notes).id);
  const sequence = new PendingSequence(1);
  const key = { instanceId: "one", id: "a" };
  const two = [happened("a", 1n), happened("a", 2n)];

  describe("changing rows", () => {
    it("inserts, with the sequence of the event that the change names", async () => {
      await using store = await fresh();
      await store.db.commit(unit({ events: [happened("z", 1n)] }));
      const row = insertRow(notes, { ...key, body: "x", sequence });
      await store.db.commit(unit({ events: two, changes: [row] }));
      assert.deepEqual(await all(store), [{ ...key, body: "x", sequence: 3n }]);
    });
    it("puts: inserts what is new and replaces what is there", async () => {
      await using store = await fresh();
      const put = (body: string) => [putRow(notes, { ...key, body, sequence })];
      await store.db.commit(unit({ events: two, changes: put("x") }));
      await store.db.commit(
        unit({ events: [happened("b", 1n), happened("b", 2n)], changes: put("y") }),
      );
      assert.deepEqual(await all(store), [{ ...key, body: "y", sequence: 4n }]);
    });
    it("updates the columns named of every row that matches, and no other", async () => {
      await using store = await fresh();
      await store.db.commit(
        unit({ events: two, changes: [note("a"), note("b"), note("c", "other")] }),
      );
      const where = { instanceId: "one", body: "text" };
      await store.db.commit(unit({ changes: [updateRows(notes, where, { body: "new" })] }));
      assert.deepEqual(
        (await all(store)).map(({ id, body }) => [id, body]),
        [
          ["a", "new"],
          ["b", "new"],
          ["c", "other"],
        ],
      );
    });
    it("deletes every row that matches, and no other", async () => {
      await using store = await fresh();
      await store.db.commit(
        unit({ events: two, changes: [note("a"), note("b"), note("c", "other")] }),
      );
      const where = { instanceId: "one", body: "text" };
      await store.db.commit(unit({ changes: [deleteRows(notes, where)] }));
      assert.deepEqual(
        (await all(store)).map(({ id }) => id),
        ["c"],
      );
    });
    it("keeps the number of rows by instance through insert, put, update and delete", async () => {
      await using store = await fresh();
      const other = { instanceId: "two", body: "x", sequence: 1n };
      const changes = [
        note("a"),
        note("b"),
        note("c"),
        putRow(notes, { ...key, body: "put over an old row", sequence: 1n }),
        putRow(notes, { ...key, id: "d", body: "put", sequence: 1n }),
        updateRows(notes, { instanceId: "one" }, { body: "x" }),
        deleteRows(notes, { instanceId: "one", id: "b" }),
        insertRow(notes, { ...other, id: "a" }),
        deleteRows(notes, { instanceId: "two", id: "never there" }),
      ];
      await store.db.commit(unit({ events: [happened("a", 1n)], changes }));
      const counts = await store.db.read.select().from(store.db.table(rowCounts));
      assert.deepEqual(
        new Map(counts.map(({ counted, rows }) => [counted, rows])),
        new Map([
          ["one", 3n],
          ["two", 1n],
        ]),
      );
    });
    it("does with many changes at once what they do one by one, with every kind of column", async () => {
      await using store = await fresh();
      const { db } = store;
      const more = {
        data: { a: [1, null] },
        raw: Uint8Array.of(0, 255),
        maybeData: null,
        maybeRaw: null,
      };
      const sample = (id: string, int: number) => ({
        ...someSample,
        ...more,
        id,
        int,
        int64: 2n ** 40n,
      });
      await db.commit(
        unit({
          events: [happened("a", 1n), happened("b", 1n)],
          changes: [
            ...["a", "b", "c", "d"].map((id) => note(id)),
            insertRow(notes, {
              instanceId: "one",
              id: "e",
              body: "fifth",
              sequence: new PendingSequence(1),
            }),
            ...["s", "t", "u"].map((id, nth) => insertRow(samples, sample(id, nth))),
          ],
        }),
      );
      const at = (id: string) => ({ instanceId: "one", id });
      await db.commit(
        unit({
          events: [happened("a", 2n)],
          changes: [
            ...["s", "t", "v"].map((id) =>
              putRow(samples, { ...sample(id, 9), flag: false }, ["int"]),
            ),
            ...["a", "b"].map((id) =>
              updateRows(notes, at(id), { body: `of ${id}`, sequence: new PendingSequence(0) }),
            ),
            ...["c", "d"].map((id) => deleteRows(notes, at(id))),
            ...["s", "u"].map((id, nth) =>
              updateRows(samples, { id }, { data: "x", maybeRaw: Uint8Array.of(nth), int64: 7n }),
            ),
          ],
        }),
      );
      const t = db.table(samples);
      const rows = await db.read.select().from(t).orderBy(t.id);
      assert.deepEqual(
        rows.map(({ id, int, int64, flag, data, raw, maybeRaw }) => [
          id,
          int,
          int64,
          flag,
          data,
          Buffer.from(raw).toString("hex"),
          maybeRaw && Buffer.from(maybeRaw).toString("hex"),
        ]),
        [
          ["s", 0, 7n, false, "x", "00ff", "00"],
          ["t", 1, 2n ** 40n, false, { a: [1, null] }, "00ff", null],
          ["u", 2, 7n, true, "x", "00ff", "01"],
          ["v", 9, 2n ** 40n, false, { a: [1, null] }, "00ff", null],
        ],
      );
      const n = db.table(notes);
      const left = await db.read.select().from(n).orderBy(n.id);
      assert.deepEqual(
        left.map((each) => [each.id, each.body, each.sequence]),
        [
          ["a", "of a", 3n],
          ["b", "of b", 3n],
          ["e", "fifth", 2n],
        ],
      );
      const counts = await db.read.select().from(db.table(rowCounts));
      assert.deepEqual(
        counts.map(({ counted, rows: counted3 }) => [counted, counted3]),
        [["one", 3n]],
      );
    });

    it("gives back what it was given, for every kind of column", async () => {
      await using store = await fresh();
      const full = {
        id: "full \u{1F600} e\u0301",
        int: -2_147_483_648,
        // NOTE: int64 holds whole numbers up to 2^53 - 1 in size: sequences, versions and counts stay below.
        int64: BigInt(Number.MAX_SAFE_INTEGER),
        flag: false,
        data: { a: [1, "two", null, { b: true }], "\u00fc": 1.5 },
        at: new Date("2038-01-19T03:14:08.123Z"),
        raw: Uint8Array.of(0, 1, 127, 128, 255),
        maybeText: "",
        maybeData: ["x"],
        maybeAt: new Date(-1),
        maybeRaw: new Uint8Array(),
      };
      await store.db.commit(
        unit({ changes: [insertRow(samples, full), insertRow(samples, someSample)] }),
      );
      const t = store.db.table(samples);
      const rows = await store.db.read.select().from(t).orderBy(t.id);
      const plain = rows.map(({ raw, maybeRaw, ...row }) => ({
        ...row,
        raw: Uint8Array.from(raw),
        maybeRaw: maybeRaw === null ? null : Uint8Array.from(maybeRaw),
      }));
      const absent = { maybeText: null, maybeData: null, maybeAt: null, maybeRaw: null };
      assert.deepEqual(plain, [full, { ...someSample, ...absent }]);
    });
    it("empties a column that is set to null", async () => {
      await using store = await fresh();
      await store.db.commit(
        unit({ changes: [insertRow(samples, { ...someSample, maybeText: "x" })] }),
      );
      await store.db.commit(
        unit({ changes: [updateRows(samples, { id: "s" }, { maybeText: null })] }),
      );
      const [row] = await store.db.read.select().from(store.db.table(samples));
      assert.equal(row?.maybeText, null);
    });
  });
}
