import { setImmediate as nextTurn } from "node:timers/promises";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asc, count, eq } from "../../src/storage/drizzle.ts";
import { secrets, sequences } from "../../src/storage/kernel-tables.ts";
import { rowById } from "../../src/projection/ids.ts";
import type { Database, Snapshots } from "../../src/storage/database.ts";
import { select, wholeRow } from "../../src/storage/selection.ts";
import { cachedRead } from "../../src/storage/read-cache.ts";
import { deleteRows, insertRow, putRow, updateRows } from "../../src/storage/row-change.ts";
import type { Fresh } from "./contract.ts";
import { happened, notes, samples, schema, someSample, unit } from "./place.ts";

const note = (id: string, body: string, instanceId = "one") =>
  insertRow(notes, { instanceId, id, body, sequence: 1n });

const inPlainBytes = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? [...value] : value,
    ]),
  );

const someSecret = {
  instanceId: "one",
  ownerType: "user",
  ownerId: "u",
  id: "1",
  keyId: "k",
  createdAt: new Date(0),
};

/** Reads: literal texts, one state, and cache versions that say whether a cached read still holds. */
export function readContract(fresh: () => Promise<Fresh>): void {
  lengthyContract(fresh);
  describe("reading texts", () => {
    const bodies = ["50%", "500", "a_b", "a\\b", "axb", "Stra\u00dfe", "strasse", "\u{1F600}!"];
    const found = async ({ db }: Fresh, text: string): Promise<string[]> => {
      const t = db.table(notes);
      const rows = await db.read.select().from(t).where(db.contains(t.body, text));
      return rows.map(({ body }) => body).sort();
    };
    for (const [text, expected] of [
      ["%", ["50%"]],
      ["_", ["a_b"]],
      ["\\", ["a\\b"]],
      ["50", ["500", "50%"]],
      ["stra", ["strasse"]],
      ["Stra\u00dfe", ["Stra\u00dfe"]],
      ["STRASSE", []],
      ["\u{1F600}", ["\u{1F600}!"]],
    ] as const)
      it(`finds what contains "${text}" literally and in its case`, async () => {
        await using store = await fresh();
        await store.db.commit(unit({ changes: bodies.map((body, at) => note(String(at), body)) }));
        assert.deepEqual(await found(store, text), [...expected].sort());
      });
    it("compares and orders texts byte by byte, whatever the language", async () => {
      await using store = await fresh();
      const ordered = ["", " a", "A", "Z", "a", "a ", "ab", "z", "\u00e9", "\uff21"];
      const shuffled = ordered.toSorted((a, b) => ((a.length * 7 + b.length) % 3) - 1);
      await store.db.commit(unit({ changes: shuffled.map((body, at) => note(String(at), body)) }));
      const t = store.db.table(notes);
      const rows = await store.db.read.select().from(t).orderBy(asc(t.body));
      assert.deepEqual(
        rows.map(({ body }) => body),
        ordered,
      );
      assert.equal((await store.db.read.select().from(t).where(eq(t.body, "a"))).length, 1);
    });
  });

  describe("reading JSON lists", () => {
    const lists: [id: string, list: string[]][] = [
      ["none", []],
      ["some", ["A", "B"]],
      ["longer", ["AB", 'a"b', "%"]],
    ];
    for (const [text, expected] of [
      ["A", ["some"]],
      ["AB", ["longer"]],
      ['a"b', ["longer"]],
      ["%", ["longer"]],
      ["a", []],
      ["", []],
    ] as const)
      it(`finds those with the member ${JSON.stringify(text)}`, async () => {
        await using store = await fresh();
        const changes = lists.map(([id, maybeData]) =>
          insertRow(samples, { ...someSample, id, maybeData }),
        );
        await store.db.commit(unit({ changes }));
        const t = store.db.table(samples);
        const rows = await store.db.read
          .select()
          .from(t)
          .where(store.db.hasMember(t.maybeData, text));
        assert.deepEqual(
          rows.map(({ id }) => id),
          expected,
        );
      });
  });

  describe("a cached read", () => {
    async function counted(store: Fresh, capacity: number) {
      const loads: string[] = [];
      const load = async (instanceId: string, key: string) => {
        loads.push(`${instanceId}/${key}`);
        return `${instanceId} has ${key}`;
      };
      const read = cachedRead(store.db, [notes], load, capacity);
      const loadsFor = async (...asked: (readonly [instanceId: string, key: string])[]) => {
        loads.length = 0;
        for (const [instanceId, key] of asked) {
          assert.equal(await read(instanceId, key), `${instanceId} has ${key}`);
        }
        return [...loads];
      };
      return loadsFor;
    }
    it("loads what it has not, an instance's own, also under the empty key", async () => {
      await using store = await fresh();
      const loadsFor = await counted(store, 10);
      assert.deepEqual(await loadsFor(["one", ""], ["two", ""]), ["one/", "two/"]);
      assert.deepEqual(await loadsFor(["one", ""], ["two", ""]), []);
    });
    it("loads anew what a commit may have changed", async () => {
      await using store = await fresh();
      const loadsFor = await counted(store, 10);
      await loadsFor(["one", "a"], ["two", "a"]);
      await store.db.commit(unit({ changes: [note("a", "x")] }));
      assert.deepEqual(await loadsFor(["one", "a"], ["two", "a"]), ["one/a"]);
    });
    it("keeps so many in all: an instance that reads more loses its own oldest", async () => {
      await using store = await fresh();
      const loadsFor = await counted(store, 3);
      await loadsFor(["one", "a"], ["two", "a"], ["two", "b"], ["two", "c"]);
      assert.deepEqual(await loadsFor(["one", "a"], ["two", "c"], ["two", "b"]), []);
      assert.deepEqual(await loadsFor(["two", "a"], ["two", "c"]), ["two/a"]);
    });
    it("makes room for another instance, and keeps what comes where one entry is all", async () => {
      await using store = await fresh();
      const loadsFor = await counted(store, 1);
      await loadsFor(["one", "a"], ["two", "a"]);
      assert.deepEqual(await loadsFor(["two", "a"], ["one", "a"]), ["one/a"]);
      assert.deepEqual(await loadsFor(["one", "b"], ["one", "b"]), ["one/b"]);
    });
  });

  describe("a row that is read by its id", () => {
    const write = ({ db }: Pick<Fresh, "db">, id: string, body: string) =>
      db.commit(unit({ changes: [putRow(notes, { instanceId: "one", id, body, sequence: 1n })] }));
    it("is one frozen object for as long as its table stands still in the instance", async () => {
      await using store = await fresh();
      const read = rowById(store.db, notes);
      await write(store, "a", "x");
      // A store that has not heard of its commits for a second, on a machine that does much else, reads anew.
      let row = await read("one", "a");
      for (let round = 0; round < 20 && row !== (await read("one", "a")); round++)
        row = await read("one", "a");
      assert.ok(row !== undefined && Object.isFrozen(row));
      assert.equal(await read("one", "a"), row);
      await write(store, "b", "x");
      assert.notEqual(await read("one", "a"), row);
      assert.deepEqual(await read("one", "a"), row);
    });
    it("is as it was written, is missed once it is gone, and there once it is written again", async () => {
      await using store = await fresh();
      const read = rowById(store.db, notes);
      const bodyOf = async () => (await read("one", "a"))?.body;
      assert.equal(await bodyOf(), undefined);
      for (const body of ["x", "y", "z"]) {
        await write(store, "a", body);
        assert.equal(await bodyOf(), body);
        await store.db.commit(unit({ changes: [deleteRows(notes, { instanceId: "one" })] }));
        assert.equal(await bodyOf(), undefined);
      }
      assert.equal(await read("two", "a"), undefined);
    });
    it("is never older than what another process has been told is written", async () => {
      await using store = await fresh();
      await using other = await store.place.open(schema);
      const read = rowById(store.db, notes);
      for (let round = 0; round < 20; round++) {
        await write({ db: other }, "a", `round ${round}`);
        // As it is with another process: word of it comes with a turn of the event loop of its own.
        await nextTurn();
        assert.equal((await read("one", "a"))?.body, `round ${round}`);
      }
    });
  });

  describe("the cache version of tables", () => {
    const moves = async ({ db }: Fresh, instanceId: string, write: () => Promise<unknown>) => {
      const before = db.cacheVersion(instanceId, [notes]);
      await write().catch(() => undefined);
      return db.cacheVersion(instanceId, [notes]) !== before;
    };
    it("moves with a commit that touched one of them in the instance", async () => {
      await using store = await fresh();
      const write = () => store.db.commit(unit({ changes: [note("a", "x")] }));
      assert.equal(await moves(store, "one", write), true);
    });
    it("moves with a delete too", async () => {
      await using store = await fresh();
      const change = deleteRows(notes, { instanceId: "one" });
      assert.equal(
        await moves(store, "one", () => store.db.commit(unit({ changes: [change] }))),
        true,
      );
    });
    it("of the empty id moves with a commit of any instance", async () => {
      await using store = await fresh();
      const write = () => store.db.commit(unit({ changes: [note("a", "x")] }));
      assert.equal(await moves(store, "", write), true);
    });
    it("stands still for another instance's commit", async () => {
      await using store = await fresh();
      const write = () => store.db.commit(unit({ changes: [note("a", "x")] }));
      assert.equal(await moves(store, "two", write), false);
    });
    it("stands still for a commit that touched other tables", async () => {
      await using store = await fresh();
      const changes = [insertRow(samples, someSample)];
      const write = () => store.db.commit(unit({ events: [happened("a", 1n)], changes }));
      assert.equal(await moves(store, "one", write), false);
    });
    it("stands still for a unit that failed", async () => {
      await using store = await fresh();
      const twice = [note("a", "x"), note("a", "x")];
      assert.equal(
        await moves(store, "one", () => store.db.commit(unit({ changes: twice }))),
        false,
      );
    });
    it("of rows with one value moves with a commit of such a row, not of others", async () => {
      await using store = await fresh();
      const secret = (kind: string) => ({ ...someSecret, kind });
      const versionOf = (part: string) => store.db.cacheVersion("one", [{ table: secrets, part }]);
      const before = [versionOf("a"), versionOf("b")];
      await store.db.commit(unit({ changes: [insertRow(secrets, secret("a"))] }));
      assert.deepEqual([versionOf("a") === before[0], versionOf("b") === before[1]], [false, true]);
    });
    for (const [what, change] of [
      ["a delete that names no value", () => deleteRows(secrets, { ownerId: "x" })],
      [
        "an update that names no value",
        () => updateRows(secrets, { ownerId: "x" }, { keyId: "k" }),
      ],
      [
        "an update that moves rows to a value",
        () => updateRows(secrets, { kind: "a" }, { kind: "b" }),
      ],
    ] as const)
      it(`of rows with one value moves with ${what}: it may have touched such a row`, async () => {
        await using store = await fresh();
        const versionOf = () => store.db.cacheVersion("one", [{ table: secrets, part: "b" }]);
        const before = versionOf();
        await store.db.commit(unit({ changes: [change()] }));
        assert.notEqual(versionOf(), before);
      });
    it("has moved when the commit is acknowledged, so the next cached read is new", async () => {
      await using store = await fresh();
      const before = store.db.cacheVersion("one", [notes]);
      await store.db
        .commit(unit({ changes: [note("a", "x")] }))
        .then(() => assert.notEqual(store.db.cacheVersion("one", [notes]), before));
    });
  });

  describe("the cache version of a stream", () => {
    const write = (db: Fresh["db"], id: string, version: bigint) =>
      db.commit(unit({ events: [happened(id, version)] }));
    const isStill = ({ db }: Fresh, before: number) => db.streamVersion("a") === before;
    it("has moved when an event of the stream is acknowledged", async () => {
      await using store = await fresh();
      const before = store.db.streamVersion("a");
      await write(store.db, "a", 1n).then(() => assert.equal(isStill(store, before), false));
    });
    it("has moved in the next turn when another process has written", async () => {
      await using store = await fresh();
      await using other = await store.place.open(schema);
      for (let round = 1n; round <= 20n; round++) {
        const before = store.db.streamVersion("a");
        await write(other, "a", round);
        await nextTurn();
        assert.equal(isStill(store, before), false);
      }
    });
  });
}

/** Reads of one state, by what is quick and by what holds up nobody. */
function lengthyContract(fresh: () => Promise<Fresh>): void {
  for (const [what, readsOf] of [
    ["a snapshot", (db) => db],
    ["a snapshot that may take long", (db) => db.lengthy("one")],
  ] as const satisfies [string, (db: Database) => Snapshots][])
    describe(what, () => {
      it("shows all its queries one state, while units are being committed", async () => {
        await using store = await fresh();
        const t = store.db.table(notes);
        const heads = store.db.table(sequences);
        const writes = Array.from({ length: 40 }, (_, at) =>
          store.db.commit(
            unit({ events: [happened(`n${at}`, 1n)], changes: [note(`n${at}`, "x")] }),
          ),
        );
        for (let round = 0; round < 40; round++) {
          const [rows, head] = await readsOf(store.db).snapshot((read) => [
            read.select({ rows: count() }).from(t),
            read.select({ last: heads.last }).from(heads),
          ]);
          assert.equal(BigInt(rows[0]?.rows ?? 0), head[0]?.last ?? 0n);
          await writes[round];
        }
      });
      it("shows all its queries one state, whenever a unit commits meanwhile", async () => {
        await using store = await fresh();
        const t = store.db.table(notes);
        const heads = store.db.table(sequences);
        let isOver = false;
        const write = async () => {
          for (let at = 0; at < 200; at++) {
            const id = `n${at}`;
            await store.db.commit(unit({ events: [happened(id, 1n)], changes: [note(id, "x")] }));
          }
          isOver = true;
        };
        const writing = write();
        while (!isOver) {
          const [rows, head] = await readsOf(store.db).snapshot((read) => [
            read.select({ rows: count() }).from(t),
            read.select({ last: heads.last }).from(heads),
          ]);
          assert.equal(BigInt(rows[0]?.rows ?? 0), head[0]?.last ?? 0n);
          await nextTurn();
        }
        await writing;
      });
      it("shows what was acknowledged before it", async () => {
        await using store = await fresh();
        const t = store.db.table(notes);
        for (let at = 0; at < 20; at++) {
          await store.db.commit(unit({ changes: [note(`n${at}`, "x")] }));
          const [rows] = await readsOf(store.db).snapshot((read) => [read.select().from(t)]);
          assert.equal(rows.length, at + 1);
        }
      });
    });

  describe("a read that may take long", () => {
    it("gives what others give, for values of every kind, as does a query that is written as text", async () => {
      await using store = await fresh();
      const sample = {
        ...someSample,
        int64: 2n ** 53n - 1n,
        flag: false,
        data: { list: ["1e5", null] },
        at: new Date(1_700_000_000_123),
        raw: new Uint8Array([0, 255]),
        maybeText: "a\u{1F600}",
        maybeData: [1],
        maybeAt: new Date(1),
        maybeRaw: new Uint8Array([1]),
      };
      await store.db.commit(
        unit({
          changes: [insertRow(samples, sample), insertRow(samples, { ...someSample, id: "t" })],
        }),
      );
      const t = store.db.table(samples);
      const whole = wholeRow(t);
      const text = select(whole.columns, { from: t, orderBy: [asc(t.id)] });
      const ask = ({ snapshot }: Snapshots) =>
        snapshot((read) => [read.select().from(t).orderBy(asc(t.id)), read.rows(text, whole)]);
      const [rows, ...others] = [...(await ask(store.db.lengthy("one"))), ...(await ask(store.db))];
      for (const other of others)
        assert.deepEqual(other.map(inPlainBytes), rows?.map(inPlainBytes));
      assert.equal(others.length, 3);
      assert.deepEqual(rows?.[0]?.data, sample.data);
    });
    it("sees what was acknowledged before it", async () => {
      await using store = await fresh();
      const t = store.db.table(notes);
      for (let at = 0; at < 20; at++) {
        await store.db.commit(unit({ changes: [note(`n${at}`, "x")] }));
        const [rows] = await store.db
          .lengthy("one")
          .snapshot((read) => [read.select().from(t).where(eq(t.body, "x"))]);
        assert.equal(rows.length, at + 1);
      }
    });
  });
}
