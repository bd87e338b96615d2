import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { beginSeries } from "../../src/eventstore/series.ts";
import { events as log, secrets } from "../../src/storage/kernel-tables.ts";
import { deleteRows } from "../../src/storage/row-change.ts";
import { by, type Fresh, owner, person, personEvents } from "./place.ts";

const fullName = "MARKER Full Name";

/** Personal fields (C7): sealed with the person's own key, unreadable once it is destroyed. */
export function personalContract(fresh: () => Promise<Fresh>): void {
  const add = ({ events }: Fresh, id: string, at = by()) =>
    events.transact(at, async (tx) => {
      const event = personEvents.added({ handle: id, fullName, born: undefined });
      tx.record(person, await tx.load(person, id), [event], owner);
    });
  const praise = ({ events }: Fresh, from: string, userId: string) =>
    events.transact(by(), async (tx) => {
      const event = personEvents.praised({ userId, words: "MARKER kind" });
      tx.record(person, await tx.load(person, from), [event], owner);
    });
  const destroyKey = ({ db }: Fresh, ownerId: string) =>
    db.commit({
      instanceId: "one",
      expect: [],
      claims: [],
      events: [],
      changes: [deleteRows(secrets, { instanceId: "one", ownerType: "user", ownerId })],
    });
  const keysOf = async ({ db }: Fresh) => {
    const rows = await db.read.select().from(db.table(secrets));
    return rows.filter(({ kind }) => kind === "personal_key").map(({ ownerId }) => ownerId);
  };

  describe("what tells of a person", () => {
    it("is sealed in the log, and clear to those who load or read", async () => {
      await using store = await fresh();
      await add(store, "a");
      const [row] = await store.db.read.select().from(store.db.table(log));
      assert.deepEqual(Object.keys(Object(row?.payload)).sort(), ["$personal", "handle"]);
      assert.doesNotMatch(JSON.stringify(row?.payload), /MARKER/);
      assert.equal((await store.events.load(person, "one", "a")).state?.fullName, fullName);
      const [event] = await store.events.read({ instanceId: "one" });
      assert.deepEqual(event?.payload, { handle: "a", fullName });
      assert.equal(event?.revision, 2);
    });
    it("is sealed with one key a person, whatever the number of events and units", async () => {
      await using store = await fresh();
      await store.events.transact(by(), async (tx) => {
        const loaded = await tx.load(person, "a");
        const first = personEvents.added({ handle: "a", fullName, born: "2000-01-01" });
        tx.record(person, loaded, [first, personEvents.renamed({ fullName: "MARKER B" })], owner);
      });
      await store.events.transact(by(), async (tx) => {
        const again = personEvents.renamed({ fullName: "MARKER C" });
        tx.record(person, await tx.load(person, "a"), [again]);
      });
      await add(store, "b");
      assert.deepEqual((await keysOf(store)).sort(), ["a", "b"]);
      const { state } = await store.events.load(person, "one", "a");
      assert.deepEqual(state, { handle: "a", fullName: "MARKER C", names: 3, praise: [] });
    });
    it("is left out of what a series of decisions would record", async () => {
      await using store = await fresh();
      const foreseen = await store.events.rehearse(by(), async (tx) => {
        let seen: unknown;
        await beginSeries(tx).add(
          async (member) => {
            const event = personEvents.added({ handle: "a", fullName, born: "MARKER" });
            member.record(person, await member.load(person, "a"), [event], owner);
          },
          async (_, recorded) => {
            seen = recorded().map(({ id, events }) => [id, events.map(({ payload }) => payload)]);
          },
        );
        return seen;
      });
      assert.deepEqual(foreseen, [["a", [{ handle: "a", fullName: "", born: "" }]]]);
    });
    it("is never sealed to the same text twice", async () => {
      await using store = await fresh();
      await add(store, "a");
      await add(store, "a", by({ instanceId: "two" }));
      const rows = await store.db.read.select().from(store.db.table(log));
      assert.notDeepEqual(rows[0]?.payload, rows[1]?.payload);
    });
    it("is empty once their key is destroyed, and the fold still works", async () => {
      await using store = await fresh();
      await add(store, "a");
      await add(store, "b");
      assert.equal((await store.events.load(person, "one", "a")).state?.fullName, fullName);
      await destroyKey(store, "a");
      const { state, version } = await store.events.load(person, "one", "a");
      assert.deepEqual(state, { handle: "a", fullName: "", names: 1, praise: [] });
      assert.equal(version, 1n);
      const [event] = await store.events.read({ instanceId: "one" });
      assert.deepEqual(event?.payload, { handle: "a", fullName: "", born: "" });
      assert.equal((await store.events.load(person, "one", "b")).state?.fullName, fullName);
    });
    it("is sealed with the key of the one it is about, not of the one who said it", async () => {
      await using store = await fresh();
      await add(store, "a");
      await add(store, "b");
      await praise(store, "a", "b");
      assert.deepEqual((await store.events.load(person, "one", "a")).state?.praise, [
        "MARKER kind",
      ]);
      await destroyKey(store, "b");
      const { state } = await store.events.load(person, "one", "a");
      assert.deepEqual([state?.fullName, state?.praise], [fullName, [""]]);
    });
    it("gets one key when several write of a new person at once", async () => {
      await using store = await fresh();
      await add(store, "a");
      await add(store, "b");
      await Promise.all([praise(store, "a", "new"), praise(store, "b", "new")]);
      assert.deepEqual((await keysOf(store)).sort(), ["a", "b", "new"]);
      for (const id of ["a", "b"]) {
        const { state } = await store.events.load(person, "one", id);
        assert.deepEqual(state?.praise, ["MARKER kind"]);
      }
    });
    it("cannot be read in another place of the log", async () => {
      await using store = await fresh();
      await add(store, "a");
      await add(store, "b");
      const [first] = await store.db.read.select().from(store.db.table(log));
      await store.db.commit({
        instanceId: "one",
        expect: [],
        claims: [],
        changes: [],
        events: [
          {
            aggregateType: "person",
            aggregateId: "b",
            aggregateVersion: 2n,
            revision: 1,
            type: "person.added",
            payload: first?.payload,
            ownerType: "instance",
            ownerId: "one",
            editorId: "",
            service: "",
            clientId: "",
            requestId: "",
            createdAt: new Date(0),
            originId: null,
          },
        ],
      });
      await assert.rejects(store.events.load(person, "one", "b"), { reason: "SECRET_UNREADABLE" });
    });
  });
}
