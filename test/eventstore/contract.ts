import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DomainError, type Kind } from "../../src/errors.ts";
import { execute } from "../../src/eventstore/transaction.ts";
import { allIds } from "../../src/projection/ids.ts";
import { claims, cursors } from "../../src/storage/kernel-tables.ts";
import { putRow } from "../../src/storage/row-change.ts";
import type { Place } from "../storage/place.ts";
import {
  addLine,
  addList,
  by,
  type Fresh,
  freshStore,
  list,
  listEvents,
  openStore,
  owner,
  start,
  titles,
} from "./place.ts";
import { seriesContract } from "./series-contract.ts";
import { personalContract } from "./personal-contract.ts";
import { subscriptionContract } from "./subscription-contract.ts";

/** What the event store must do on every database. */
export function eventStoreContract(newPlace: () => Promise<Place>): void {
  const fresh = freshStore(newPlace);
  loading(fresh);
  deciding(fresh);
  racing(fresh);
  reading(fresh);
  seriesContract(fresh);
  personalContract(fresh);
  subscriptionContract(newPlace);
}

type NewStore = (now?: () => Date) => Promise<Fresh>;

export const refusedWith = (kind: Kind, reason: string) => (error: unknown) => {
  assert.ok(error instanceof DomainError, String(error));
  assert.deepEqual([error.kind, error.reason], [kind, reason]);
  return true;
};

function loading(fresh: NewStore): void {
  describe("loading an object", () => {
    it("folds its events, and tells its version and its last event", async () => {
      await using store = await fresh();
      await addList(store, "other");
      await addList(store, "a", "Groceries");
      await addLine(store, "a", "milk");
      const { state, version, last } = await store.events.load(list, "one", "a");
      assert.deepEqual(state, { title: "Groceries", lines: ["milk"] });
      assert.equal(version, 2n);
      assert.equal(last?.sequence, 3n);
      assert.deepEqual(last?.createdAt, start);
      assert.deepEqual(last?.owner, owner);
    });
    it("goes on from where it was, also when another store wrote since", async () => {
      await using store = await fresh();
      await addList(store, "a");
      const before = await store.events.load(list, "one", "a");
      await using other = await openStore(store.place);
      await addLine(other, "a", "milk");
      const { state, version, last } = await store.events.load(list, "one", "a");
      assert.deepEqual(state, { title: "a", lines: ["milk"] });
      assert.deepEqual([version, last?.sequence], [2n, 2n]);
      assert.deepEqual(before.state, { title: "a", lines: [] });
    });
    it("gives states that nobody can change, as all who load the object share them", async () => {
      await using store = await fresh();
      await addList(store, "a");
      const { state } = await store.events.load(list, "one", "a");
      assert.throws(() => state?.lines.push("milk"), TypeError);
      assert.deepEqual((await store.events.load(list, "one", "a")).state?.lines, []);
    });
    it("gives the initial state for one that nothing happened to", async () => {
      await using store = await fresh();
      const loaded = await store.events.load(list, "one", "a");
      assert.deepEqual(loaded, { id: "a", state: undefined, version: 0n, last: undefined });
    });
    it("sees nothing of the same id in another instance", async () => {
      await using store = await fresh();
      await addList(store, "a");
      assert.equal((await store.events.load(list, "two", "a")).state, undefined);
    });
  });
}

function deciding(fresh: NewStore): void {
  const { added, "line.added": lineAdded } = listEvents;

  describe("recording a decision", () => {
    it("writes each event with all that is known of it (C9)", async () => {
      await using store = await fresh();
      await addList(store, "a", "Groceries");
      const [event] = await store.events.read({ instanceId: "one" });
      assert.deepEqual(event, {
        type: "list.added",
        payload: { title: "Groceries" },
        instanceId: "one",
        sequence: 1n,
        aggregateType: "list",
        aggregateId: "a",
        aggregateVersion: 1n,
        revision: 1,
        owner,
        editorId: "editor",
        service: "test.Service",
        clientId: "client",
        requestId: "request",
        createdAt: start,
      });
    });
    it("updates the projection in the same unit (C2)", async () => {
      await using store = await fresh();
      await addList(store, "a", "Groceries");
      const rows = await store.db.read.select().from(store.db.table(titles));
      assert.deepEqual(rows, [{ instanceId: "one", id: "a", title: "Groceries", sequence: 1n }]);
    });
    it("writes no event where nothing was decided, and tells the last one", async () => {
      await using store = await fresh();
      await addList(store, "a");
      const written = await execute(store.events.transact, by(), list, { id: "a" }, () => []);
      assert.deepEqual(written, { id: "a", sequence: 1n, changeDate: start, owner });
      assert.equal((await store.events.read({ instanceId: "one" })).length, 1);
      assert.deepEqual(store.appended, [["list.added"]]);
    });
    it("tells the last event it added: sequence, time and owner", async () => {
      let now = start;
      await using store = await fresh(() => now);
      await addList(store, "a");
      now = new Date(start.getTime() + 1_000);
      const written = await execute(store.events.transact, by(), list, { id: "a" }, () => [
        lineAdded({ line: "x" }),
        lineAdded({ line: "y" }),
      ]);
      assert.deepEqual(written, { id: "a", sequence: 3n, changeDate: now, owner });
    });
    it("keeps the owner of the object's first event", async () => {
      await using store = await fresh();
      await addList(store, "a");
      const stranger = { type: "org", id: "stranger" } as const;
      const at = { id: "a", owner: stranger };
      const line = [lineAdded({ line: "x" })];
      const written = await execute(store.events.transact, by(), list, at, () => line);
      assert.deepEqual(written.owner, owner);
      assert.deepEqual((await store.events.load(list, "one", "a")).last?.owner, owner);
    });
    it("commits several objects whole, in the order they were recorded", async () => {
      await using store = await fresh();
      const [a, b] = await store.events.transact(by(), async (tx) => {
        const first = await tx.load(list, "a");
        const second = await tx.load(list, "b");
        tx.record(list, first, [added({ title: "A" })], owner);
        tx.record(list, second, [added({ title: "B" })], owner);
        tx.record(list, first, [lineAdded({ line: "x" })]);
        return [tx.written(first), tx.written(second)];
      });
      assert.deepEqual([a().sequence, b().sequence], [2n, 3n]);
      const log = await store.events.read({ instanceId: "one" });
      assert.deepEqual(
        log.map((e) => [e.sequence, e.type, e.aggregateId, e.aggregateVersion]),
        [
          [1n, "list.added", "a", 1n],
          [2n, "list.line.added", "a", 2n],
          [3n, "list.added", "b", 1n],
        ],
      );
      assert.deepEqual(store.appended, [["list.added", "list.line.added", "list.added"]]);
    });
    it("keeps nothing when one of several objects is refused", async () => {
      await using store = await fresh();
      await addList(store, "taken", "T");
      const both = store.events.transact(by(), async (tx) => {
        tx.record(list, await tx.load(list, "a"), [added({ title: "A" })], owner);
        tx.record(list, await tx.load(list, "b"), [added({ title: "T" })], owner);
      });
      await assert.rejects(both, refusedWith("alreadyExists", "LIST_TITLE_TAKEN"));
      assert.equal((await store.events.load(list, "one", "a")).state, undefined);
      assert.equal((await store.events.read({ instanceId: "one" })).length, 1);
    });
    it("answers a claim that is taken with the refusal of its slice (C4)", async () => {
      await using store = await fresh();
      await addList(store, "a", "T");
      await assert.rejects(
        addList(store, "b", "T"),
        refusedWith("alreadyExists", "LIST_TITLE_TAKEN"),
      );
      await addList(store, "b", "T", by({ instanceId: "two" }));
    });
    it("passes a claim from one object to another in one unit, in whatever order", async () => {
      await using store = await fresh();
      await addList(store, "a", "T");
      await store.events.transact(by(), async (tx) => {
        const old = await tx.load(list, "a");
        tx.record(list, await tx.load(list, "b"), [added({ title: "T" })], owner);
        tx.record(list, old, [listEvents.removed({})]);
      });
      const rows = await store.db.read.select().from(store.db.table(claims));
      assert.deepEqual(
        rows.map(({ value, holderId }) => [value, holderId]),
        [["T", "b"]],
      );
    });
    it("writes rows that are no projection with the events", async () => {
      await using store = await fresh();
      await store.events.transact(by(), async (tx) => {
        tx.write(putRow(cursors, { name: "c", instanceId: "one", position: 7n }));
      });
      const rows = await store.db.read.select().from(store.db.table(cursors));
      assert.deepEqual(rows, [{ name: "c", instanceId: "one", position: 7n }]);
      assert.equal((await store.db.heads()).size, 0);
    });
    it("decides nothing for a caller who has gone", async () => {
      await using store = await fresh();
      const signal = AbortSignal.abort();
      await assert.rejects(
        addList(store, "a", "T", by({ signal })),
        refusedWith("cancelled", "CANCELLED"),
      );
      assert.equal((await store.db.heads()).size, 0);
    });
    it("passes on what the decision refuses, and writes nothing", async () => {
      await using store = await fresh();
      const refusing = store.events.transact(by(), async (tx) => {
        tx.record(list, await tx.load(list, "a"), [added({ title: "A" })], owner);
        throw new DomainError("failedPrecondition", "NOT_NOW", "later");
      });
      await assert.rejects(refusing, refusedWith("failedPrecondition", "NOT_NOW"));
      assert.equal((await store.db.heads()).size, 0);
    });
  });
}

function racing(fresh: NewStore): void {
  const line = (text: string) => listEvents["line.added"]({ line: text });

  describe("deciding while others write", () => {
    it("decides anew when the object has moved on, and loses nobody's change (F13)", async () => {
      await using store = await fresh();
      await addList(store, "a");
      const seen: number[] = [];
      await store.events.transact(by(), async (tx) => {
        const loaded = await tx.load(list, "a");
        seen.push(loaded.state?.lines.length ?? -1);
        if (seen.length === 1) await addLine(store, "a", "theirs");
        tx.record(list, loaded, [line("mine")]);
      });
      assert.deepEqual(seen, [0, 1]);
      const { state } = await store.events.load(list, "one", "a");
      assert.deepEqual(state?.lines, ["theirs", "mine"]);
    });
    it("decides anew when an object that it only read has moved on", async () => {
      await using store = await fresh();
      await addList(store, "a");
      await addList(store, "b");
      let decisions = 0;
      await store.events.transact(by(), async (tx) => {
        const read = await tx.load(list, "b");
        if (++decisions === 1) await addLine(store, "b", "new");
        const lines = read.state?.lines.length;
        tx.record(list, await tx.load(list, "a"), [line(`b has ${lines}`)]);
      });
      assert.equal(decisions, 2);
      const { state } = await store.events.load(list, "one", "a");
      assert.deepEqual(state?.lines, ["b has 1"]);
    });
    it("decides anew when there are more rows than it took as all of them", async () => {
      await using store = await fresh();
      await addList(store, "a");
      const counts: number[] = [];
      await store.events.transact(by(), async (tx) => {
        const rows = await store.db.read.select().from(store.db.table(titles));
        counts.push(rows.length);
        tx.expectRows(titles, { instanceId: "one" }, rows.length);
        if (counts.length === 1) await addList(store, "b");
        tx.record(list, await tx.load(list, "a"), [line(`${rows.length} lists`)]);
      });
      assert.deepEqual(counts, [1, 2]);
    });
    it("decides anew when there are other rows than it took as all of them, be they as many", async () => {
      await using store = await fresh();
      await addList(store, "a");
      await addList(store, "b");
      const seen: string[][] = [];
      await store.events.transact(by(), async (tx) => {
        const ids = await allIds(store.db, tx, titles, { instanceId: "one" });
        seen.push(ids.toSorted());
        if (seen.length === 1) {
          await execute(store.events.transact, by(), list, { id: "a" }, () => [
            listEvents.removed({}),
          ]);
          await addList(store, "c");
        }
        tx.record(list, await tx.load(list, "b"), [line(`beside ${ids.join()}`)]);
      });
      assert.deepEqual(seen, [
        ["a", "b"],
        ["b", "c"],
      ]);
    });
    it("decides anew when an object that it took for new is there", async () => {
      await using store = await fresh();
      await addList(store, "a", "theirs");
      const ids = ["a", "b"];
      const written = await store.events.transact(by(), async (tx) => {
        const loaded = tx.begin(list, ids.shift() ?? "");
        assert.deepEqual([loaded.state, loaded.version], [undefined, 0n]);
        tx.record(list, loaded, [listEvents.added({ title: "mine" })], owner);
        return tx.written(loaded);
      });
      assert.equal(written().id, "b");
      assert.equal((await store.events.load(list, "one", "a")).state?.title, "theirs");
    });
    it("gives up after six tries that others have won", async () => {
      await using store = await fresh();
      await addList(store, "a");
      let decisions = 0;
      const losing = store.events.transact(by(), async (tx) => {
        const loaded = await tx.load(list, "a");
        await addLine(store, "a", `theirs ${decisions++}`);
        tx.record(list, loaded, [line("mine")]);
      });
      await assert.rejects(losing, refusedWith("aborted", "CONCURRENT_CHANGE"));
      assert.equal(decisions, 6);
      const { state } = await store.events.load(list, "one", "a");
      assert.equal(state?.lines.includes("mine"), false);
    });
    it("keeps the line of each of many writers on one object: none is refused (F13)", async () => {
      await using store = await fresh();
      await addList(store, "a");
      const lines = Array.from({ length: 60 }, (_, at) => `line ${at}`);
      await Promise.all(lines.map((text) => addLine(store, "a", text)));
      const { state, version } = await store.events.load(list, "one", "a");
      assert.deepEqual(state?.lines.toSorted(), lines.toSorted());
      assert.equal(version, BigInt(lines.length + 1));
    });
    it("has one winner when several take one title, and no event of a loser (F12)", async () => {
      await using store = await fresh();
      const ids = Array.from({ length: 8 }, (_, at) => `l${at}`);
      const outcomes = await Promise.allSettled(ids.map((id) => addList(store, id, "T")));
      for (const outcome of outcomes)
        if (outcome.status === "rejected")
          refusedWith("alreadyExists", "LIST_TITLE_TAKEN")(outcome.reason);
      assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
      assert.equal((await store.events.read({ instanceId: "one" })).length, 1);
    });
  });
}

function reading(fresh: NewStore): void {
  describe("reading the log", () => {
    const filled = async () => {
      const store = await fresh();
      await addList(store, "a");
      await addLine(store, "a", "x");
      await addList(store, "b");
      await addList(store, "c", "c", by({ instanceId: "two" }));
      await addLine(store, "b", "y");
      return store;
    };
    for (const [title, filter, sequences] of [
      ["gives an instance's events in order", {}, [1n, 2n, 3n, 4n]],
      ["after a sequence gives what follows it", { after: 2n }, [3n, 4n]],
      ["with a limit gives the first of them", { after: 1n, limit: 2 }, [2n, 3n]],
      ["of some types gives only these", { types: ["list.line.added"] }, [2n, 4n]],
      ["of one object gives only its own", { aggregate: { type: "list", id: "b" } }, [3n, 4n]],
      ["of no type gives nothing", { types: [] }, []],
      [
        "of an object of another type gives nothing",
        { aggregate: { type: "person", id: "b" } },
        [],
      ],
    ] as const)
      it(title, async () => {
        await using store = await filled();
        const { types, ...rest } = { types: undefined, ...filter };
        const found = await store.events.read({
          instanceId: "one",
          ...rest,
          ...(types === undefined ? {} : { types: [...types] }),
        });
        assert.deepEqual(
          found.map(({ sequence }) => sequence),
          sequences,
        );
      });
  });
}
