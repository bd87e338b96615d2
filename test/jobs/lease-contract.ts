import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "../../src/errors.ts";
import { jobs } from "../../src/jobs/job.ts";
import type { Fresh } from "./contract.ts";
import {
  by,
  clock,
  openStore,
  record,
  ring,
  ringsOf,
  startWorker,
  stored,
  until,
} from "./place.ts";

const isLeaseLost = (error: unknown): boolean =>
  error instanceof DomainError && error.kind === "aborted" && error.reason === "JOB_LEASE_LOST";

export function leaseContract(fresh: Fresh): void {
  describe("several workers on one store", () => {
    it("never run one job, nor two jobs of one key, at once", async () => {
      await using store = await fresh();
      await using second = await openStore(store.place, () => new Date());
      const total = 60;
      for (let at = 0; at < total; at++)
        await ring(store, `a${String(at).padStart(2, "0")}`, { key: `k${at % 5}` });
      const busy = new Set<string>();
      const order = new Map<string, string[]>();
      const done: string[] = [];
      const begin = (from: typeof store | typeof second) =>
        startWorker(from, async ({ id, key }) => {
          assert.ok(!busy.has(key), `${key} runs twice at once`);
          busy.add(key);
          order.set(key, [...(order.get(key) ?? []), id]);
          await delay(Math.random() * 5);
          busy.delete(key);
          done.push(id);
          return "done";
        });
      await using both = new AsyncDisposableStack();
      for (const from of [store, second]) both.use(begin(from));
      await until(() => done.length >= total, "all jobs");
      await until(async () => (await stored(store)).length === 0, "no job is left");
      assert.equal(done.length, total);
      for (const ids of order.values()) assert.deepEqual(ids, ids.toSorted());
    });
    it("keep a lease as long as the handler works", async () => {
      await using store = await fresh();
      await using second = await openStore(store.place, () => new Date());
      await ring(store, "a");
      let runs = 0;
      const handler = async () => {
        runs += 1;
        await delay(4_500);
        return "done" as const;
      };
      // On a busy machine a renewal may come more than a second late.
      const pace = { leaseMs: 3_000, renewMs: 50 };
      await using both = new AsyncDisposableStack();
      for (const from of [store, second]) both.use(startWorker(from, handler, { pace }));
      await until(async () => (await stored(store)).length === 0, "the job is done");
      assert.equal(runs, 1);
    });
  });

  describe("a worker that was too slow (F17)", () => {
    it("loses its job when its lease is over, and can commit nothing more", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await using second = await openStore(store.place, time.now);
      await ring(store, "a");
      let resume = () => {};
      let late: unknown;
      const slow = startWorker(
        store,
        async (job) => {
          await new Promise<void>((resolve) => (resume = resolve));
          await store.events
            .transact(by, async (tx) => {
              await record(tx, "work", "late");
              await job.fence(tx);
            })
            .catch((error: unknown) => (late = error));
          return "done";
        },
        { now: time.now, pace: { renewMs: 60_000 } },
      );
      await until(async () => (await stored(store))[0]?.leaseHolder !== "", "it is claimed");
      time.forward(60_000);
      await using _ = startWorker(
        second,
        async (job) => {
          await second.events.transact(by, async (tx) => {
            await record(tx, "work", "in time");
            await job.fence(tx);
          });
          return "done";
        },
        time,
      );
      await until(async () => (await stored(store)).length === 0, "the other worker did it");
      resume();
      await slow[Symbol.asyncDispose]();
      assert.ok(isLeaseLost(late), String(late));
      assert.equal(await ringsOf(store, "work"), 1);
    });
    it("is refused at the commit itself when it loses its job after the fence was read", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await using second = await openStore(store.place, time.now);
      await ring(store, "a");
      const outcomes: unknown[] = [];
      let taken = false;
      const slow = startWorker(
        store,
        async (job) => {
          if (taken) return "done";
          await store.events
            .transact(by, async (tx) => {
              await record(tx, "work", "late");
              await job.fence(tx);
              if (taken) return;
              time.forward(60_000);
              const thief = startWorker(second, async () => ((taken = true), "again"), time);
              await until(() => taken, "the other worker has it");
              await thief[Symbol.asyncDispose]();
            })
            .catch((error: unknown) => outcomes.push(error));
          return "done";
        },
        { now: time.now, pace: { renewMs: 60_000 } },
      );
      await until(() => outcomes.length === 1, "the late commit is refused");
      assert.ok(isLeaseLost(outcomes[0]), String(outcomes[0]));
      assert.equal(await ringsOf(store, "work"), 0);
      await slow[Symbol.asyncDispose]();
    });
    it("hears from its renewal that the job is another's", async () => {
      await using store = await fresh();
      await ring(store, "a");
      let reason: unknown;
      const slow = startWorker(
        store,
        ({ signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              reason = signal.reason;
              reject(new Error("ended"));
            });
          }),
        { pace: { renewMs: 50 } },
      );
      await until(async () => (await stored(store))[0]?.leaseHolder !== "", "it is claimed");
      const theirs = { leaseHolder: "other", leaseUntil: new Date(Date.now() + 60_000), token: 2 };
      const changes = [{ op: "update" as const, table: jobs, where: { id: "a" }, values: theirs }];
      await store.db.commit({ instanceId: "one", expect: [], claims: [], events: [], changes });
      await until(() => reason !== undefined, "the slow worker hears of it");
      assert.ok(isLeaseLost(reason), String(reason));
      await slow[Symbol.asyncDispose]();
      const [row] = await stored(store);
      assert.deepEqual([row?.leaseHolder, row?.token, row?.lastError], ["other", 2, null]);
    });
    it("does not begin a job a second time that it has at work, though its lease is over", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await ring(store, "a");
      let runs = 0;
      let end = () => {};
      const worker = startWorker(
        store,
        async () => {
          runs += 1;
          await new Promise<void>((resolve) => (end = resolve));
          return "done";
        },
        { now: time.now, pace: { renewMs: 60_000 } },
      );
      await until(() => runs === 1, "it begins");
      time.forward(60_000);
      await delay(200);
      assert.equal(runs, 1);
      end();
      await until(async () => (await stored(store)).length === 0, "it is done after all");
      await worker[Symbol.asyncDispose]();
    });
  });
}
