import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Conflict, type MigratableDatabase, type Reader } from "../../src/storage/database.ts";
import { events, sequences } from "../../src/storage/kernel-tables.ts";
import { insertRow, PendingSequence } from "../../src/storage/row-change.ts";
import { claimContract } from "./claim-contract.ts";
import { leaseContract } from "./lease-contract.ts";
import { migrationContract } from "./migration-contract.ts";
import { happened, logOf, notes, type Place, refusalOf, schema, unit } from "./place.ts";
import { readContract } from "./read-contract.ts";
import { rowChangeContract } from "./row-change-contract.ts";
import { textContract } from "./text-contract.ts";

export type Fresh = AsyncDisposable & { db: MigratableDatabase; place: Place };

/**
 * What every database must do, whatever its dialect (H5).
 *
 * @param madePlace a place that has the tables already, for what is not about making them
 */
export function storageContract(newPlace: () => Promise<Place>, madePlace = newPlace): void {
  const fresh = async (): Promise<Fresh> => {
    const place = await madePlace();
    const db = await place.open(schema);
    await db.migrate();
    return {
      db,
      place,
      async [Symbol.asyncDispose]() {
        await db[Symbol.asyncDispose]();
        await place[Symbol.asyncDispose]();
      },
    };
  };
  units(fresh);
  expectations(fresh);
  appendOnly(fresh);
  textContract(fresh);
  rowChangeContract(fresh);
  closing(newPlace);
  closed(fresh);
  claimContract(fresh);
  readContract(fresh);
  leaseContract(fresh);
  migrationContract(newPlace);
}

const note = (id: string, body = "text") =>
  insertRow(notes, { instanceId: "one", id, body, sequence: new PendingSequence(0) });

function units(fresh: () => Promise<Fresh>): void {
  describe("committing a unit", () => {
    it("gives its events consecutive sequences of the instance, the first being 1", async () => {
      await using store = await fresh();
      const two = unit({ events: [happened("a", 1n), happened("a", 2n)] });
      assert.deepEqual(await store.db.commit(two), { firstSequence: 1n });
      const one = unit({ events: [happened("b", 1n)] });
      assert.deepEqual(await store.db.commit(one), { firstSequence: 3n });
      assert.deepEqual(await logOf(store.db), [
        { id: "a", version: 1n, sequence: 1n },
        { id: "a", version: 2n, sequence: 2n },
        { id: "b", version: 1n, sequence: 3n },
      ]);
    });
    it("counts each instance on its own", async () => {
      await using store = await fresh();
      await store.db.commit(unit({ events: [happened("a", 1n), happened("a", 2n)] }));
      const other = unit({ instanceId: "two", events: [happened("a", 1n)] });
      assert.deepEqual(await store.db.commit(other), { firstSequence: 1n });
      assert.deepEqual(
        await store.db.heads(),
        new Map([
          ["one", 2n],
          ["two", 1n],
        ]),
      );
    });
    it("draws no sequence for a unit without events", async () => {
      await using store = await fresh();
      assert.deepEqual(await store.db.commit(unit({ changes: [note("a")] })), {
        firstSequence: 0n,
      });
      assert.equal((await store.db.heads()).size, 0);
    });
    it("leaves no hole behind units that failed, however many arrive at once", async () => {
      await using store = await fresh();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 120 }, (_, at) =>
          store.db.commit(
            unit({
              // Every third unit states a version that its stream has not.
              expect:
                at % 3 === 0
                  ? [{ kind: "stream", aggregateType: "note", aggregateId: "none", version: 7n }]
                  : [],
              events: [happened(`n${at}`, 1n), happened(`n${at}`, 2n)],
            }),
          ),
        ),
      );
      const failed = outcomes.filter(({ status }) => status === "rejected").length;
      const log = await logOf(store.db);
      assert.equal(failed, 40);
      assert.deepEqual(
        log.map(({ sequence }) => sequence),
        Array.from({ length: 160 }, (_, at) => BigInt(at + 1)),
      );
    });
    it("has no instance wait for all that another one writes", async () => {
      await using store = await fresh();
      let written = 0;
      const many = Array.from({ length: 3_000 }, async (_, at) => {
        await store.db.commit(unit({ changes: [note(`n${at}`)] }));
        written += 1;
      });
      const changes = [
        insertRow(notes, { instanceId: "two", id: "a", body: "text", sequence: 0n }),
      ];
      await store.db.commit(unit({ instanceId: "two", changes }));
      assert.ok(written < 1_500, `${written} of 3,000 units came first`);
      await Promise.all(many);
      assert.equal(written, 3_000);
    });
    it("tells each caller the sequences that their own events got", async () => {
      await using store = await fresh();
      const committed = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          store.db.commit(unit({ events: [happened(`n${at}`, 1n)] })),
        ),
      );
      for (const { id, sequence } of await logOf(store.db)) {
        assert.equal(committed[Number(id.slice(1))]?.firstSequence, sequence);
      }
    });
    it("keeps nothing of a unit of which one part fails", async () => {
      await using store = await fresh();
      await store.db.commit(unit({ changes: [note("taken")] }));
      const claim = { op: "hold", scope: "one", kind: "k", value: "v" } as const;
      const failing = unit({
        claims: [{ ...claim, holderType: "note", holderId: "a" }],
        events: [happened("a", 1n)],
        changes: [note("new"), note("taken")],
      });
      await assert.rejects(store.db.commit(failing), Conflict);
      assert.deepEqual(await logOf(store.db), []);
      assert.equal((await store.db.heads()).size, 0);
      const ids = await store.db.read.select().from(store.db.table(notes));
      assert.deepEqual(
        ids.map(({ id }) => id),
        ["taken"],
      );
      // The claim is free again: another may hold it.
      await store.db.commit(unit({ claims: [{ ...claim, holderType: "note", holderId: "b" }] }));
    });
    it("fails alone among units that are committed together", async () => {
      await using store = await fresh();
      const [first, second, third] = await Promise.allSettled([
        store.db.commit(unit({ events: [happened("a", 1n)] })),
        store.db.commit(unit({ events: [happened("a", 1n)], changes: [note("lost")] })),
        store.db.commit(unit({ events: [happened("b", 1n)], changes: [note("kept")] })),
      ]);
      assert.deepEqual(first, { status: "fulfilled", value: { firstSequence: 1n } });
      assert.ok(second?.status === "rejected" && second.reason instanceof Conflict);
      assert.deepEqual(third, { status: "fulfilled", value: { firstSequence: 2n } });
      const rows = await store.db.read.select().from(store.db.table(notes));
      assert.deepEqual(rows, [{ instanceId: "one", id: "kept", body: "text", sequence: 2n }]);
    });
    it("keeps the latest time of the log even when the clock stepped back", async () => {
      await using store = await fresh();
      const at = (ms: number) => ({ createdAt: new Date(ms) });
      await store.db.commit(unit({ events: [happened("a", 1n, at(2_000))] }));
      await store.db.commit(unit({ events: [happened("a", 2n, at(1_000))] }));
      const [head] = await store.db.read.select().from(store.db.table(sequences));
      assert.deepEqual(head, { instanceId: "one", last: 2n, changedAt: new Date(2_000) });
    });
    it("tells listeners the instance of each unit that wrote events, until they leave", async () => {
      await using store = await fresh();
      const heard: string[] = [];
      const leave = store.db.onCommit((instanceId) => heard.push(instanceId));
      await store.db.commit(unit({ events: [happened("a", 1n)] }));
      await store.db.commit(unit({ changes: [note("a")] }));
      await store.db.commit(unit({ instanceId: "two", events: [happened("a", 1n)] }));
      leave();
      await store.db.commit(unit({ events: [happened("a", 2n)] }));
      assert.deepEqual(heard, ["one", "two"]);
    });
    it("tells listeners of a table each row that was inserted, events or not", async () => {
      await using store = await fresh();
      const heard: unknown[] = [];
      store.db.onInsert(notes, ({ id }) => heard.push(id));
      await store.db.commit(unit({ changes: [note("a"), note("b")] }));
      await assert.rejects(store.db.commit(unit({ changes: [note("c"), note("a")] })), Conflict);
      assert.deepEqual(heard, ["a", "b"]);
    });
  });
}

function expectations(fresh: () => Promise<Fresh>): void {
  const stream = (version: bigint, aggregateId = "a") =>
    ({ kind: "stream", aggregateType: "note", aggregateId, version }) as const;
  const counted = (count: number) =>
    ({ kind: "rows", table: notes, where: { instanceId: "one", body: "text" }, count }) as const;

  describe("expecting that nothing has changed", () => {
    it("commits when the streams are as they were read", async () => {
      await using store = await fresh();
      await store.db.commit(unit({ events: [happened("a", 1n)] }));
      const expect = [stream(1n), stream(0n, "never"), counted(0)];
      await store.db.commit(unit({ expect, events: [happened("b", 1n)] }));
    });
    it("is a conflict when a stream that was only read has moved on", async () => {
      await using store = await fresh();
      await store.db.commit(unit({ events: [happened("a", 1n), happened("a", 2n)] }));
      const late = unit({ expect: [stream(1n)], events: [happened("b", 1n)] });
      await assert.rejects(store.db.commit(late), Conflict);
      assert.equal((await logOf(store.db)).length, 2);
    });
    it("looks at the streams of its own instance", async () => {
      await using store = await fresh();
      await store.db.commit(unit({ events: [happened("a", 1n)] }));
      await store.db.commit(unit({ instanceId: "two", expect: [stream(0n)] }));
    });
    it("is a conflict when a version of a stream is written twice", async () => {
      await using store = await fresh();
      await store.db.commit(unit({ events: [happened("a", 1n)] }));
      await assert.rejects(store.db.commit(unit({ events: [happened("a", 1n)] })), Conflict);
    });
    it("is a conflict when there are more or fewer rows than the decision saw", async () => {
      await using store = await fresh();
      await store.db.commit(unit({ changes: [note("a"), note("b")] }));
      await store.db.commit(unit({ expect: [counted(2)] }));
      for (const count of [1, 3]) {
        const late = unit({ expect: [counted(count)], events: [happened("c", 1n)] });
        await assert.rejects(store.db.commit(late), Conflict);
      }
      assert.deepEqual(await logOf(store.db), []);
    });
    it("takes a list in a condition for any of its members", async () => {
      await using store = await fresh();
      await store.db.commit(unit({ changes: [note("a"), note("b"), note("c")] }));
      const anyOf = (id: string[], count: number) =>
        ({ kind: "rows", table: notes, where: { instanceId: "one", id }, count }) as const;
      const right = [anyOf(["a", "b", "other"], 2), anyOf([], 0), anyOf(['"', "'c', 'a'"], 0)];
      await store.db.commit(unit({ expect: right }));
      for (const wrong of [anyOf(["a", "b"], 1), anyOf(["a", "other"], 2), anyOf([], 3)]) {
        await assert.rejects(store.db.commit(unit({ expect: [wrong] })), Conflict);
      }
    });
    it("lets one of two units win that were decided on the same state", async () => {
      await using store = await fresh();
      const decide = () =>
        store.db.commit(unit({ expect: [stream(0n)], events: [happened("a", 1n)] }));
      const outcomes = await Promise.allSettled([decide(), decide()]);
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ["fulfilled", "rejected"],
      );
    });
  });
}

function appendOnly(fresh: () => Promise<Fresh>): void {
  describe("the log of events", () => {
    for (const statement of [
      `UPDATE events SET type = 'note.removed'`,
      `DELETE FROM events WHERE sequence = 1`,
      `REPLACE the row of a sequence`,
    ])
      it(`is append-only for everybody: the database refuses to ${statement.split(" ")[0]}`, async () => {
        await using store = await fresh();
        await store.db.commit(unit({ events: [happened("a", 1n)] }));
        const before = await store.db.read.select().from(store.db.table(events));
        const run = statement.startsWith("REPLACE") ? store.place.replaceEvent : statement;
        await assert.rejects(store.place.execute(run), /append-only/);
        assert.deepEqual(await store.db.read.select().from(store.db.table(events)), before);
      });
  });
}

function closing(newPlace: () => Promise<Place>): void {
  describe("closing a store", () => {
    it("keeps what was acknowledged, and what was waiting to be written", async () => {
      await using place = await newPlace();
      const first = await place.open(schema);
      await first.migrate();
      await first.commit(unit({ events: [happened("a", 1n)] }));
      const waiting = first.commit(unit({ events: [happened("a", 2n)] }));
      await first[Symbol.asyncDispose]();
      assert.deepEqual(await waiting, { firstSequence: 2n });
      await using second = await place.open(schema);
      await second.migrate();
      assert.equal((await logOf(second)).length, 2);
      assert.deepEqual(await second.commit(unit({ events: [happened("a", 3n)] })), {
        firstSequence: 3n,
      });
    });
  });
}

function closed(fresh: () => Promise<Fresh>): void {
  describe("a store that is closed", () => {
    it("refuses whatever it is asked", async () => {
      await using store = await fresh();
      const { db } = store;
      const all = (read: Reader) => read.select().from(db.table(notes));
      const asks: (() => unknown)[] = [
        () => db.commit(unit({ events: [happened("a", 1n)] })),
        () => all(db.read),
        () => db.snapshot((read) => [all(read)]),
        () => db.lengthy("one").snapshot((read) => [all(read)]),
        () => db.heads(),
        () => db.health(),
      ];
      // Statements that are compiled already, and others.
      await all(db.read);
      await db[Symbol.asyncDispose]();
      for (const ask of asks) {
        await assert.rejects(
          async () => ask(),
          (error: unknown) => {
            const { kind, reason } = refusalOf(error);
            assert.deepEqual([kind, reason], ["unavailable", "STORE_CLOSED"], String(ask));
            return true;
          },
        );
      }
    });
  });
}
