import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Consumer, subscribe } from "../../src/eventstore/subscription.ts";
import { cursors } from "../../src/storage/kernel-tables.ts";
import { insertRow, type RowChange } from "../../src/storage/row-change.ts";
import type { Place } from "../storage/place.ts";
import {
  addLine,
  addList,
  by,
  freshStore,
  list,
  listEvents,
  openStore,
  type Store,
} from "./place.ts";

const patienceMs = 60_000;

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + patienceMs; !(await holds()); await delay(5)) {
    if (Date.now() > end) assert.fail("what was waited for never came");
  }
}

const two = by({ instanceId: "two" });

/** Slow consumers (C2): after the commit, at least once, in order, from a cursor that survives. */
export function subscriptionContract(newPlace: () => Promise<Place>): void {
  const fresh = freshStore(newPlace);

  /** A consumer that notes what it was given; `before` may fail. */
  const listening = (
    { db, events }: Pick<Store, "db" | "events">,
    before: (...given: Parameters<Consumer>) => Promise<RowChange[] | void> = async () => {},
    name = "test",
  ) => {
    const heard: string[] = [];
    const errors: unknown[] = [];
    const subscription = subscribe({
      db,
      events,
      name,
      async consume(batch, instanceId) {
        const changes = await before(batch, instanceId);
        for (const { sequence } of batch) heard.push(`${instanceId}/${sequence}`);
        return changes;
      },
      onError: (error) => errors.push(error),
    });
    return { heard, errors, [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose]() };
  };

  describe("subscribing to the log", () => {
    it("hands over what is there and what comes, in the order of the log", async () => {
      await using store = await fresh();
      await addList(store, "a");
      await using listener = listening(store);
      await until(() => listener.heard.length === 1);
      for (let at = 0; at < 30; at++) await addLine(store, "a", `line ${at}`);
      await until(() => listener.heard.length >= 31);
      const expected = Array.from({ length: 31 }, (_, at) => `one/${at + 1}`);
      assert.deepEqual(listener.heard, expected);
      assert.deepEqual(listener.errors, []);
    });
    it("hands over a log that is longer than a batch, each event once", async () => {
      await using store = await fresh();
      await addList(store, "a");
      await store.events.transact(by(), async (tx) => {
        const loaded = await tx.load(list, "a");
        const lines = Array.from({ length: 449 }, (_, at) =>
          listEvents["line.added"]({ line: `line ${at}` }),
        );
        tx.record(list, loaded, lines);
      });
      await using listener = listening(store);
      await until(() => listener.heard.length >= 450 || listener.errors.length > 0);
      const expected = Array.from({ length: 450 }, (_, at) => `one/${at + 1}`);
      assert.deepEqual(listener.heard, expected);
    });
    it("hands over the events of every instance, also of one that comes later", async () => {
      await using store = await fresh();
      await addList(store, "a");
      await using listener = listening(store);
      await until(() => listener.heard.length === 1);
      await addList(store, "b", "b", two);
      await addList(store, "c");
      await until(() => listener.heard.length === 3);
      assert.deepEqual(listener.heard.toSorted(), ["one/1", "one/2", "two/1"]);
    });
    it("goes on after a restart where it was, under its own name", async () => {
      await using place = await newPlace();
      {
        await using store = await openStore(place);
        await addList(store, "a");
        await using listener = listening(store);
        await until(() => listener.heard.length === 1);
      }
      await using store = await openStore(place);
      await addList(store, "b");
      await using same = listening(store);
      await using other = listening(store, undefined, "other");
      await until(() => same.heard.length > 0 && other.heard.length === 2);
      assert.deepEqual(same.heard, ["one/2"]);
      assert.deepEqual(other.heard, ["one/1", "one/2"]);
    });
    it("hands over again what failed, later and in the same order", async () => {
      await using store = await fresh();
      for (const id of ["a", "b"]) await addList(store, id);
      let failures = 0;
      const given: string[] = [];
      await using listener = listening(store, async (batch) => {
        given.push(batch.map(({ sequence }) => sequence).join(","));
        if (failures++ === 0) throw new Error("the peer is away");
      });
      await until(() => listener.heard.length > 0);
      assert.deepEqual(given, ["1,2", "1,2"]);
      assert.deepEqual(listener.heard, ["one/1", "one/2"]);
      assert.match(String(listener.errors), /the peer is away/);
    });
    it("writes what a consumer gives with the cursor, once, however many follow under the name", async () => {
      await using store = await fresh();
      const noted = (sequence: bigint) => ({ name: `seen ${sequence}`, instanceId: "one" });
      const follower = () =>
        listening(store, async (batch) =>
          // A second row of the same key would be refused, and tried again for ever.
          batch.map(({ sequence }) =>
            insertRow(cursors, { ...noted(sequence), position: sequence }),
          ),
        );
      await using one = follower();
      await using other = follower();
      for (let at = 0; at < 25; at++) await addList(store, `l${at}`);
      const t = store.db.table(cursors);
      await until(async () => (await store.db.read.select().from(t)).length === 26);
      assert.deepEqual([...one.errors, ...other.errors], []);
    });
    it("passes over what does not concern a consumer, and costs nothing while nothing does", async () => {
      await using store = await fresh();
      for (const id of ["a", "b", "c"]) await addList(store, id);
      const since: { from?: bigint } = {};
      const heard: bigint[] = [];
      await using _ = subscribe({
        db: store.db,
        events: store.events,
        name: "late",
        from: () => since.from,
        consume: async (batch) => void heard.push(...batch.map(({ sequence }) => sequence)),
        onError: (error) => assert.fail(String(error)),
      });
      await delay(50);
      since.from = 2n;
      await addList(store, "d");
      await until(() => heard.length === 2);
      assert.deepEqual(heard, [3n, 4n]);
      assert.deepEqual(await store.db.read.select().from(store.db.table(cursors)), []);
    });
    it("holds no other instance up while one fails", async () => {
      await using store = await fresh();
      await addList(store, "a");
      await addList(store, "b", "b", two);
      await using listener = listening(store, async (_, instanceId) => {
        if (instanceId === "one") throw new Error("the peer is away");
      });
      await until(() => listener.heard.length === 1 && listener.errors.length > 0);
      assert.deepEqual(listener.heard, ["two/1"]);
    });
    it("moves its cursor only after the consumer is done: a crash repeats, never skips", async () => {
      await using place = await newPlace();
      await using store = await openStore(place);
      await addList(store, "a");
      const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await using listener = listening(store, async () => {
        begun.resolve();
        return done.promise;
      });
      await begun.promise;
      const t = store.db.table(cursors);
      assert.deepEqual(await store.db.read.select().from(t), []);
      done.resolve();
      await until(() => listener.heard.length === 1);
      await until(async () => (await store.db.read.select().from(t))[0]?.position === 1n);
    });
    it("hands an instance's events over one batch after another, never two at once", async () => {
      await using store = await fresh();
      let under = 0;
      let most = 0;
      await using listener = listening(store, async () => {
        most = Math.max(most, ++under);
        await delay(3);
        under--;
      });
      for (let at = 0; at < 20; at++) await addList(store, `l${at}`);
      await until(() => listener.heard.length === 20);
      assert.equal(most, 1);
      assert.equal(new Set(listener.heard).size, 20);
    });
    it("waits on stop for the batch that is under way, and hears nothing after it", async () => {
      await using store = await fresh();
      await addList(store, "a");
      const begun = Promise.withResolvers<void>();
      const listener = listening(store, () => {
        begun.resolve();
        return delay(50);
      });
      await begun.promise;
      await listener[Symbol.asyncDispose]();
      assert.deepEqual(listener.heard, ["one/1"]);
      await addList(store, "b");
      await delay(50);
      assert.deepEqual(listener.heard, ["one/1"]);
    });
  });
}
