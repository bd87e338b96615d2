import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Conflict, type Database } from "../../src/storage/database.ts";
import { leases } from "../../src/storage/kernel-tables.ts";
import { type Held, holdLease } from "../../src/storage/lease.ts";
import { updateRows } from "../../src/storage/row-change.ts";
import type { Fresh } from "./contract.ts";
import { happened, logOf, schema, unit } from "./place.ts";

const lifeMs = 300;

/** Leases with fencing tokens (F14): one process at a time, and none that is late. */
export function leaseContract(fresh: () => Promise<Fresh>): void {
  const lease = (db: Database, life = lifeMs) => holdLease({ db, name: "work", lifeMs: life });

  describe("holding a lease", () => {
    it("is for one process at a time, and the next gets a larger token", async () => {
      await using store = await fresh();
      await using other = await store.place.open(schema);
      const first = lease(store.db);
      await using second = lease(other);
      const held = await first.renew();
      assert.equal(held?.token, 1n);
      assert.equal(await second.renew(), undefined);
      await first[Symbol.asyncDispose]();
      assert.equal(held.signal.aborted, true);
      assert.equal(first.held(), undefined);
      assert.equal((await second.renew())?.token, 2n);
    });
    it("is given back at once, also while it is being renewed and after its life", async () => {
      await using store = await fresh();
      const first = lease(store.db);
      await first.renew();
      const renewed = first.renew();
      await Promise.all([renewed, first[Symbol.asyncDispose]()]);

      let isAway = false;
      const commit: Database["commit"] = (work) =>
        isAway ? Promise.reject(new Error("the store is away")) : store.db.commit(work);
      const second = holdLease({ db: { ...store.db, commit }, name: "work", lifeMs });
      assert.equal((await second.renew())?.token, 2n);
      isAway = true;
      await delay(lifeMs + 50);
      assert.equal(second.held(), undefined);
      isAway = false;
      await second[Symbol.asyncDispose]();

      await using third = lease(store.db);
      assert.equal((await third.renew())?.token, 3n);
    });
    it("lasts longer than its life while it is renewed, under one token", async () => {
      // On a busy machine what renews it may come later than the shortest of lives.
      const life = 3_000;
      await using store = await fresh();
      await using first = lease(store.db, life);
      await using second = lease(store.db, life);
      const held = await first.renew();
      for (const end = Date.now() + 1.2 * life; Date.now() < end; await delay(20)) {
        assert.equal(await second.renew(), undefined);
        assert.equal(first.held()?.token, held?.token);
      }
    });
    it("passes on when its holder has vanished, whatever the clocks say (F20)", async () => {
      await using store = await fresh();
      const far = new Date(Date.now() + 365 * 86_400_000);
      const vanished = { name: "work", holder: "vanished", token: 7n, expires: far };
      await store.db.commit(unit({ changes: [{ op: "insert", table: leases, values: vanished }] }));
      await using next = lease(store.db);
      const start = Date.now();
      let held: Held | undefined;
      while ((held = await next.renew()) === undefined) await delay(20);
      assert.equal(held.token, 8n);
      assert.ok(Date.now() - start >= lifeMs, "a whole life was waited for");
    });
    it("is over for a holder who could not renew it for its life, though nobody has taken it", async () => {
      await using store = await fresh();
      const { db } = store;
      let isAway = false;
      const commit: Database["commit"] = (work) =>
        isAway ? Promise.reject(new Error("the store is away")) : db.commit(work);
      await using first = holdLease({ db: { ...db, commit }, name: "work", lifeMs });
      const held = await first.renew();
      assert.equal(first.held(), held);
      isAway = true;
      await delay(lifeMs + 50);
      assert.equal(first.held(), undefined);
      assert.equal(held?.signal.aborted, true);
    });
    it("has one winner when many take it at once", async () => {
      await using store = await fresh();
      await using other = await store.place.open(schema);
      const all = Array.from({ length: 8 }, (_, at) => lease(at % 2 === 0 ? store.db : other));
      const held = await Promise.all(all.map((each) => each.renew()));
      assert.equal(held.filter((each) => each !== undefined).length, 1);
      for (const each of all) await each[Symbol.asyncDispose]();
    });
  });

  describe("the fence of a lease", () => {
    it("lets the units of the holder pass, and no unit of one who has lost it", async () => {
      await using store = await fresh();
      await using work = lease(store.db);
      const held = await work.renew();
      assert.ok(held);
      await store.db.commit(unit({ expect: [held.fence], events: [happened("a", 1n)] }));
      const taken = updateRows(leases, { name: "work" }, { holder: "other", token: 2n });
      await store.db.commit(unit({ changes: [taken] }));
      const late = unit({ expect: [held.fence], events: [happened("b", 1n)] });
      await assert.rejects(store.db.commit(late), Conflict);
      assert.equal(await work.renew(), undefined);
      assert.equal(held.signal.aborted, true);
      assert.equal((await logOf(store.db)).length, 1);
    });
  });
}
