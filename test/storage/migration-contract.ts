import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "../../src/errors.ts";
import { type Bring, Conflict, type MigratableDatabase } from "../../src/storage/database.ts";
import { rowById } from "../../src/projection/ids.ts";
import { rowCounts } from "../../src/storage/kernel-tables.ts";
import { deleteRows, insertRow } from "../../src/storage/row-change.ts";
import type { Schema } from "../../src/storage/schema.ts";
import { int, int64, optionalText, table, text } from "../../src/storage/table.ts";
import { happened, notes, type Place, samples, schema, someSample, unit } from "./place.ts";

const otherNotes = table(
  "notes",
  { instanceId: text(), id: text(), title: text(), sequence: int64() },
  { key: ["instanceId", "id"], countedBy: "instanceId" },
);
const withTitles: Schema = { state: [samples], projections: [otherNotes] };

/** The copies are where they should be. */
const done: Bring = async () => {};

const widerTable = <C extends Parameters<typeof table>[1]>(more: C) =>
  table("tokens", { id: text(), ...more }, { key: ["id"] });

/** Bringing a store to the schema of a build, and rebuilding projections beside the ones that serve. */
export function migrationContract(newPlace: () => Promise<Place>): void {
  const opened = async (place: Place, each: Schema) => {
    const db = await place.open(each);
    const stale = await db.migrate();
    return { db, stale: stale.map(({ name }) => name) };
  };
  const withNotes = async (place: Place): Promise<void> => {
    const { db } = await opened(place, schema);
    const row = insertRow(notes, { instanceId: "one", id: "a", body: "x", sequence: 1n });
    await db.commit(unit({ events: [happened("a", 1n)], changes: [row] }));
    await db[Symbol.asyncDispose]();
  };

  describe("migrating a store", () => {
    it("changes nothing the second time", async () => {
      await using place = await newPlace();
      await withNotes(place);
      const { db, stale } = await opened(place, schema);
      await using _ = db;
      assert.deepEqual(stale, []);
      assert.deepEqual(await db.migrate(), []);
      assert.equal((await db.read.select().from(db.table(notes))).length, 1);
    });
    it("reports a projection of another shape as stale, until it is rebuilt", async () => {
      await using place = await newPlace();
      await withNotes(place);
      const { db, stale } = await opened(place, withTitles);
      await using _ = db;
      assert.deepEqual(stale, ["notes"]);
      assert.deepEqual(
        await db.migrate(),
        [otherNotes],
        "a crash before the rebuild forgets nothing",
      );
      const shadow = await db.shadow([otherNotes]);
      await shadow.apply([
        insertRow(otherNotes, { instanceId: "one", id: "a", title: "x", sequence: 1n }),
      ]);
      await shadow.swap(done);
      assert.deepEqual(await db.migrate(), []);
      const rows = await db.read.select().from(db.table(otherNotes));
      assert.deepEqual(rows, [{ instanceId: "one", id: "a", title: "x", sequence: 1n }]);
    });
    it("reports a new projection as stale where there are events, and only there", async () => {
      await using place = await newPlace();
      const { db: empty, stale: none } = await opened(place, { state: [samples], projections: [] });
      await empty[Symbol.asyncDispose]();
      assert.deepEqual(none, []);
      const { db: still, stale: onEmptyLog } = await opened(place, schema);
      await still.commit(unit({ events: [happened("a", 1n)] }));
      await still[Symbol.asyncDispose]();
      assert.deepEqual(onEmptyLog, []);
      const { db, stale } = await opened(place, {
        state: [samples],
        projections: [notes, widerTable({ name: text() })],
      });
      await using _ = db;
      assert.deepEqual(stale, ["tokens"]);
    });
    it("widens a table of state by a nullable column, and keeps its rows", async () => {
      await using place = await newPlace();
      const narrow = widerTable({});
      const { db: first } = await opened(place, { state: [narrow], projections: [] });
      await first.commit(unit({ changes: [insertRow(narrow, { id: "t" })] }));
      await first[Symbol.asyncDispose]();
      const wide = widerTable({ hint: optionalText() });
      const { db, stale } = await opened(place, { state: [wide], projections: [] });
      await using _ = db;
      assert.deepEqual(stale, []);
      await db.commit(unit({ changes: [insertRow(wide, { id: "u", hint: "h" })] }));
      const t = db.table(wide);
      assert.deepEqual(await db.read.select().from(t).orderBy(t.id), [
        { id: "t", hint: null },
        { id: "u", hint: "h" },
      ]);
    });
    it("makes the indexes and counters that a table of state has got since", async () => {
      await using place = await newPlace();
      const columns = { id: text(), kind: text() };
      const bare = table("tokens", columns, { key: ["id"] });
      const { db: first } = await opened(place, { state: [bare], projections: [] });
      await first.commit(unit({ changes: [insertRow(bare, { id: "t", kind: "k" })] }));
      await first[Symbol.asyncDispose]();
      const decorated = table("tokens", columns, {
        key: ["id"],
        indexes: [{ columns: ["kind"], unique: true }],
        countedBy: "kind",
      });
      const { db } = await opened(place, { state: [decorated], projections: [] });
      await using _ = db;
      const twice = unit({ changes: [insertRow(decorated, { id: "u", kind: "k" })] });
      await assert.rejects(db.commit(twice), Conflict);
      await db.commit(unit({ changes: [insertRow(decorated, { id: "u", kind: "l" })] }));
      const counts = await db.read.select().from(db.table(rowCounts));
      assert.deepEqual(
        new Map(counts.map(({ counted, rows }) => [counted, rows])),
        new Map([
          ["k", 1n],
          ["l", 1n],
        ]),
      );
      assert.deepEqual(await db.migrate(), []);
    });
    it("refuses to widen a table of state by a column that must have a value", async () => {
      await using place = await newPlace();
      const { db: first } = await opened(place, { state: [widerTable({})], projections: [] });
      await first[Symbol.asyncDispose]();
      await using db = await place.open({ state: [widerTable({ hint: int() })], projections: [] });
      await assert.rejects(db.migrate(), /tokens.*nullable.*hint/);
    });
  });

  describe("a shadow of projection tables", () => {
    const filled = async (place: Place): Promise<MigratableDatabase> => {
      await withNotes(place);
      return (await opened(place, schema)).db;
    };
    const row = (id: string, body: string) =>
      insertRow(notes, { instanceId: "one", id, body, sequence: 1n });

    it("is equal when it holds the same rows", async () => {
      await using place = await newPlace();
      await using db = await filled(place);
      const shadow = await db.shadow([notes]);
      await shadow.apply([row("a", "x")]);
      assert.deepEqual(await shadow.compare(done), new Map([["notes", 0]]));
      await shadow.drop();
    });
    it("counts rows that are missing, too many, or changed", async () => {
      await using place = await newPlace();
      await using db = await filled(place);
      const shadow = await db.shadow([notes]);
      await shadow.apply([row("a", "other"), row("b", "x")]);
      // The changed row counts on both sides, the one too many on one.
      assert.deepEqual(await shadow.compare(done), new Map([["notes", 3]]));
      await shadow.drop();
    });
    it("is brought to where the log stands, before it is compared or swapped", async () => {
      await using place = await newPlace();
      await using db = await filled(place);
      const shadow = await db.shadow([notes]);
      await shadow.apply([row("a", "x")]);
      const steps: (bigint | undefined)[] = [];
      const bringing =
        (id: string): Bring =>
        async (heads, apply) => {
          steps.push(heads.get("one"));
          await apply([row(id, "x")]);
        };
      await db.commit(unit({ events: [happened("a", 2n)], changes: [row("b", "x")] }));
      assert.deepEqual(await shadow.compare(bringing("b")), new Map([["notes", 0]]));
      await db.commit(unit({ events: [happened("a", 3n)], changes: [row("c", "x")] }));
      await shadow.swap(bringing("c"));
      assert.deepEqual(steps, [2n, 3n]);
      await shadow.drop();
      assert.equal((await db.read.select().from(db.table(notes))).length, 3);
    });
    it("takes the place of what a process that serves meanwhile has read and kept", async () => {
      await using place = await newPlace();
      await using db = await filled(place);
      await using serving = (await opened(place, schema)).db;
      const read = rowById(serving, notes);
      assert.equal((await read("one", "a"))?.body, "x");
      const shadow = await db.shadow([notes]);
      await shadow.apply([row("a", "mended")]);
      await shadow.swap(done);
      await shadow.drop();
      // A turn of the event loop, as word of another process's work takes one.
      await delay(1);
      assert.equal((await read("one", "a"))?.body, "mended");
    });
    it("loses no unit that comes between the last replay and the swap", async () => {
      await using place = await newPlace();
      await using db = await filled(place);
      const shadow = await db.shadow([notes]);
      let late: Promise<unknown> | undefined;
      const replayed = new Set<string>();
      await shadow.swap(async (heads, apply) => {
        late ??= db.commit(unit({ events: [happened("a", 2n)], changes: [row("b", "x")] }));
        await delay(20);
        const wanted = heads.get("one") === 1n ? ["a"] : ["a", "b"];
        await apply(wanted.filter((id) => !replayed.has(id)).map((id) => row(id, "x")));
        for (const id of wanted) replayed.add(id);
      });
      await late;
      await shadow.drop();
      const t = db.table(notes);
      const rows = await db.read.select({ id: t.id }).from(t).orderBy(t.id);
      assert.deepEqual(rows, [{ id: "a" }, { id: "b" }]);
    });
    it("that was left behind by a crash is in nobody's way", async () => {
      await using place = await newPlace();
      await using db = await filled(place);
      await (await db.shadow([notes])).apply([row("left", "behind")]);
      const shadow = await db.shadow([notes]);
      await shadow.apply([row("a", "x")]);
      assert.deepEqual(await shadow.compare(done), new Map([["notes", 0]]));
      await shadow.drop();
    });
    it("is nobody's but the last one's who made it: the one before is refused, and swaps nothing (F14)", async () => {
      await using place = await newPlace();
      await using db = await filled(place);
      await using other = await place.open(schema);
      const first = await db.shadow([notes]);
      await first.apply([row("a", "x")]);
      const second = await other.shadow([notes]);
      const steps = [
        () => first.apply([row("b", "x")]),
        () => first.compare(done),
        () => first.swap(done),
      ];
      for (const step of steps) {
        await assert.rejects(step, (error) => {
          assert.ok(error instanceof DomainError, String(error));
          assert.deepEqual([error.kind, error.reason], ["aborted", "REBUILD_REPLACED"]);
          return true;
        });
      }
      await first.drop();
      await second.apply([row("a", "x")]);
      assert.deepEqual(await second.compare(done), new Map([["notes", 0]]));
      assert.equal((await db.read.select().from(db.table(notes))).length, 1);
      await second.drop();
    });
    it("takes the place of the real table with its counts, and later units write to it", async () => {
      await using place = await newPlace();
      await using db = await filled(place);
      const shadow = await db.shadow([notes]);
      await shadow.apply([row("b", "x"), row("c", "x")]);
      await shadow.swap(done);
      await shadow.drop();
      await db.commit(unit({ changes: [row("d", "x"), deleteRows(notes, { id: "b" })] }));
      const t = db.table(notes);
      const rows = await db.read.select({ id: t.id }).from(t).orderBy(t.id);
      assert.deepEqual(rows, [{ id: "c" }, { id: "d" }]);
      const [counted] = await db.read.select().from(db.table(rowCounts));
      assert.equal(counted?.rows, 2n);
    });
    it("leaves tables of state alone", async () => {
      await using place = await newPlace();
      await using db = await filled(place);
      await db.commit(unit({ changes: [insertRow(samples, someSample)] }));
      const shadow = await db.shadow([notes]);
      await shadow.swap(done);
      assert.equal((await db.read.select().from(db.table(samples))).length, 1);
    });
  });
}
