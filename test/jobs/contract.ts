import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { unavailable } from "../../src/errors.ts";
import { enqueue, jobs } from "../../src/jobs/job.ts";
import type { Place } from "../storage/place.ts";
import { endedContract, runningContract } from "./ended-contract.ts";
import { holdContract } from "./hold-contract.ts";
import { leaseContract } from "./lease-contract.ts";
import {
  by,
  carry,
  clock,
  openStore,
  record,
  ring,
  ringsOf,
  startWorker,
  type Store,
  stored,
  until,
} from "./place.ts";
import { deadLetterContract } from "./dead-letter-contract.ts";

export type Fresh = (now?: () => Date) => Promise<Store & { place: Place }>;

/** What jobs must do on every database. */
export function jobContract(newPlace: () => Promise<Place>, hasReplicas: boolean): void {
  const fresh: Fresh = async (now = () => new Date()) => {
    const place = await newPlace();
    const store = await openStore(place, now);
    return {
      ...store,
      place,
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]();
        await place[Symbol.asyncDispose]();
      },
    };
  };
  atWork(fresh);
  order(fresh);
  failing(fresh);
  leaseContract(fresh);
  endedContract(fresh);
  if (hasReplicas) runningContract(fresh);
  deadLetterContract(fresh);
  holdContract(fresh);
}

function atWork(fresh: Fresh): void {
  describe("a job", () => {
    it("is there if and only if the unit that causes it is committed", async () => {
      await using store = await fresh();
      await ring(store, "a");
      await assert.rejects(
        store.events.transact(by, async (tx) => {
          tx.write(enqueue(carry, { instanceId: "one", id: "b", now: tx.now }, { note: "b" }));
          throw unavailable("NO", "no");
        }),
      );
      const rows = await stored(store);
      assert.deepEqual(
        rows.map(({ id, kind, key, position, payload }) => ({ id, kind, key, position, payload })),
        [{ id: "a", kind: "bell.carry", key: "a", position: 1n, payload: { note: "a" } }],
      );
    });
    it("is done soon after the commit, once, and leaves nothing", async () => {
      await using store = await fresh();
      const done: string[] = [];
      await using _ = startWorker(
        store,
        async ({ id, payload, attempt }) => {
          done.push(`${id} ${payload.note} ${attempt}`);
          return "done";
        },
        // Only the commit can wake it.
        { pace: { pollMs: 60_000 } },
      );
      await delay(50);
      await ring(store, "a");
      await until(async () => (await stored(store)).length === 0, "the job is gone");
      assert.deepEqual(done, ["a a 1"]);
    });
    it("is done soon after a commit without events too", async () => {
      await using store = await fresh();
      const done: string[] = [];
      const pace = { pollMs: 60_000 };
      await using _ = startWorker(store, async ({ id }) => (done.push(id), "done"), { pace });
      await delay(50);
      const job = enqueue(carry, { instanceId: "one", id: "a", now: new Date() }, { note: "a" });
      const nothing = { expect: [], claims: [], events: [] };
      await store.db.commit({ instanceId: "one", ...nothing, changes: [job] });
      await until(() => done.length === 1, "the job is done");
    });
    it("that was written by another process is seen by looking", async () => {
      await using store = await fresh();
      await using other = await openStore(store.place, () => new Date());
      const done: string[] = [];
      await using _ = startWorker(store, async ({ id }) => (done.push(id), "done"));
      await ring(other, "a");
      await until(() => done.length === 1, "the job of the other process");
    });
    it("waits until it is due", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      const done: string[] = [];
      await ring(store, "later", { dueAt: new Date(time.now().getTime() + 60_000) });
      await using _ = startWorker(store, async ({ id }) => (done.push(id), "done"), time);
      await delay(100);
      assert.deepEqual(done, []);
      time.forward(60_000);
      await until(() => done.length === 1, "the job is due");
    });
    it("is left alone by a worker that does not know its kind", async () => {
      await using store = await fresh();
      await ring(store, "a");
      await store.db.commit({
        instanceId: "one",
        expect: [],
        claims: [],
        events: [],
        changes: [{ op: "update", table: jobs, where: { id: "a" }, values: { kind: "new.kind" } }],
      });
      await using _ = startWorker(store, async () => "done");
      await delay(100);
      assert.equal((await stored(store))[0]?.attempts, 0);
    });
    it("goes on from its progress, as long as there is more", async () => {
      await using store = await fresh();
      const seen: string[] = [];
      await ring(store, "a");
      await using _ = startWorker(store, async ({ payload, attempt }) => {
        seen.push(`${payload.note} ${attempt}`);
        if (seen.length === 1) return "again";
        return seen.length < 4 ? { again: { note: `${payload.note}+` } } : "done";
      });
      await until(async () => (await stored(store)).length === 0, "the job is gone");
      assert.deepEqual(seen, ["a 1", "a 1", "a+ 1", "a++ 1"]);
    });
    it("may be done in the unit of its work", async () => {
      await using store = await fresh();
      await ring(store, "a");
      const failures: never[] = [];
      await using _ = startWorker(
        store,
        async (job) => {
          await store.events.transact(by, async (tx) => {
            await record(tx, "done", "x");
            await job.finish(tx);
          });
          return "done";
        },
        { failures },
      );
      await until(async () => (await stored(store)).length === 0, "the job is gone");
      assert.equal(await ringsOf(store, "done"), 1);
      assert.deepEqual(failures, []);
    });
    it("shares its places with so many others, and no more", async () => {
      await using store = await fresh();
      for (let at = 0; at < 12; at++) await ring(store, `a${at}`);
      let now = 0;
      let most = 0;
      let done = 0;
      await using _ = startWorker(
        store,
        async () => {
          most = Math.max(most, ++now);
          await delay(20);
          now -= 1;
          done += 1;
          return "done";
        },
        { pace: { parallel: 3 } },
      );
      await until(() => done === 12, "all jobs");
      assert.equal(most, 3);
    });
    it("stops between parts when the worker is told to, and goes on with the next worker", async () => {
      await using store = await fresh();
      await ring(store, "a");
      let parts = 0;
      const worker = startWorker(store, async () => {
        parts += 1;
        await delay(30);
        return "again";
      });
      await until(() => parts > 1, "two parts");
      await worker[Symbol.asyncDispose]();
      const now = parts;
      await delay(80);
      assert.equal(parts, now);
      const [row] = await stored(store);
      assert.deepEqual([row?.leaseHolder, row?.attempts, row?.lastError], ["", 0, null]);
      await using _ = startWorker(store, async () => "done");
      await until(async () => (await stored(store)).length === 0, "the next worker");
    });
    it("that does not end is told to, and counts as never begun", async () => {
      await using store = await fresh();
      await ring(store, "a");
      let begun = false;
      const failures: never[] = [];
      const worker = startWorker(
        store,
        ({ signal }) =>
          new Promise((_, reject) => {
            begun = true;
            signal.addEventListener("abort", () => reject(new Error("told to end")));
          }),
        { failures, pace: { stopWithinMs: 50 } },
      );
      await until(() => begun, "it begins");
      await worker[Symbol.asyncDispose]();
      const [row] = await stored(store);
      assert.deepEqual([row?.leaseHolder, row?.attempts, row?.failingSince], ["", 0, null]);
      assert.deepEqual(failures, []);
    });
  });
}

function order(fresh: Fresh): void {
  describe("jobs of one key (X9)", () => {
    it("run one after the other, in the order of their commits, while other keys go on", async () => {
      await using store = await fresh();
      // Ids in the reverse order: the order is that of the log.
      for (const id of ["z9", "y8", "x7", "w6"]) await ring(store, id, { key: "k", bell: "b" });
      await ring(store, "other");
      const log: string[] = [];
      let atOnce = 0;
      await using _ = startWorker(store, async ({ id, key }) => {
        if (key === "k") assert.equal(++atOnce, 1);
        log.push(id);
        await delay(10);
        if (key === "k") atOnce -= 1;
        return "done";
      });
      await until(async () => (await stored(store)).length === 0, "all jobs");
      assert.deepEqual(
        log.filter((id) => id !== "other"),
        ["z9", "y8", "x7", "w6"],
      );
      assert.ok(log.indexOf("other") < 2, "the other key did not wait");
    });
    it("wait for one that failed, and other keys do not", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      for (const id of ["a1", "a2"]) await ring(store, id, { key: "k" });
      await ring(store, "b");
      const log: string[] = [];
      let broken = true;
      await using _ = startWorker(
        store,
        async ({ id }) => {
          log.push(id);
          if (broken && id === "a1") throw new Error("broken");
          return "done";
        },
        time,
      );
      await until(() => log.length === 2, "two jobs ran");
      await delay(100);
      assert.deepEqual(log.toSorted(), ["a1", "b"]);
      broken = false;
      time.forward(1_000);
      await until(() => log.length === 4, "the rest");
      assert.deepEqual(log.slice(2), ["a1", "a2"]);
    });
    it("hide no other key, however many they are", async () => {
      await using store = await fresh();
      const many = Array.from({ length: 1_500 }, (_, at) => `a${String(at).padStart(5, "0")}`);
      // No more at once than connections read: on a busy machine those that wait for one are refused.
      for (let at = 0; at < many.length; at += 10) {
        await Promise.all(many.slice(at, at + 10).map((id) => ring(store, id, { key: "hot" })));
      }
      await ring(store, "cold");
      const done: string[] = [];
      const open = Promise.withResolvers<void>();
      await using _ = startWorker(store, async ({ id }) => {
        if (id !== "cold") await open.promise;
        done.push(id);
        return "done";
      });
      await until(() => done.includes("cold"), "the cold key");
      assert.deepEqual(done, ["cold"]);
      open.resolve();
    });
  });
}

function failing(fresh: Fresh): void {
  describe("jobs of one group (X9)", () => {
    it("have places of their own, perhaps none, and hide no other group, however many they are", async () => {
      await using store = await fresh();
      for (let at = 0; at < 700; at++) await ring(store, `full${at}`, { key: `full/${at}` });
      for (let at = 0; at < 5; at++) await ring(store, `shut${at}`, { key: `shut/${at}` });
      await ring(store, "free", { key: "free/1" });
      const limits = new Map([["shut", 0]]);
      const begun: string[] = [];
      const open = Promise.withResolvers<void>();
      const work = async ({ id }: { id: string }) => {
        begun.push(id);
        if (id.startsWith("full")) await open.promise;
        return "done" as const;
      };
      const lane = { parallel: 20, perGroup: 3, limits: () => limits, whenDead: () => [] };
      await using _ = startWorker(store, Object.assign(work, { lane }));
      await until(() => begun.includes("free"), "the other group");
      await delay(100);
      assert.equal(begun.filter((id) => id.startsWith("full")).length, 3);
      assert.equal(begun.filter((id) => id.startsWith("shut")).length, 0);
      limits.set("shut", 1);
      await until(
        () => begun.filter((id) => id.startsWith("shut")).length === 5,
        "the group that was shut",
      );
      open.resolve();
      await until(() => begun.length === 706, "all of them");
    });
  });

  describe("a job that fails (F17)", () => {
    it("is tried again after its pause, and its reason is kept without its words", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await ring(store, "a");
      const attempts: number[] = [];
      await using _ = startWorker(
        store,
        async ({ attempt }) => {
          attempts.push(attempt);
          if (attempt === 1) throw unavailable("PEER_DOWN", "secret words");
          if (attempt === 2) throw new Error("secret words");
          return "done";
        },
        time,
      );
      const failedWith = async (reason: string) => (await stored(store))[0]?.lastError === reason;
      await until(() => failedWith("PEER_DOWN"), "the first failure");
      const [row] = await stored(store);
      assert.ok(row?.failingSince);
      const pause = row.dueAt.getTime() - row.failingSince.getTime();
      assert.equal(pause, 1_000);
      await delay(60);
      assert.deepEqual(attempts, [1]);
      time.forward(1_000);
      await until(() => failedWith("INTERNAL"), "the second failure");
      time.forward(2_000);
      await until(async () => (await stored(store)).length === 0, "the third attempt");
      assert.deepEqual(attempts, [1, 2, 3]);
    });
    it("starts to count anew after progress", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await ring(store, "a");
      const attempts: number[] = [];
      await using _ = startWorker(
        store,
        async ({ attempt }) => {
          attempts.push(attempt);
          if (attempts.length === 1) throw new Error("broken");
          return attempts.length === 2 ? "again" : "done";
        },
        time,
      );
      await until(async () => (await stored(store))[0]?.lastError === "INTERNAL", "it fails");
      time.forward(1_000);
      await until(async () => (await stored(store)).length === 0, "the end");
      assert.deepEqual(attempts, [1, 2, 1]);
    });
  });
}
