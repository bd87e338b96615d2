import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DomainError } from "../../src/errors.ts";
import { deadJobs, revive } from "../../src/jobs/dead-letters.ts";
import { jobs } from "../../src/jobs/job.ts";
import { countJobs } from "../../src/jobs/metrics.ts";
import type { Fresh } from "./contract.ts";
import { by, clock, record, ring, startWorker, type Store, stored, until } from "./place.ts";

const hour = 3_600_000;

const reviveIt = (store: Store, id: string) =>
  store.events.transact(by, async (tx) => {
    await record(tx, "revived", id);
    await revive(store.db, tx, { instanceId: "one", id });
  });

/** Runs a job until it is dead: 24 hours of the clock. */
async function letDie(store: Store, time: ReturnType<typeof clock>, ids: string[]) {
  const died = async () =>
    (await stored(store)).filter(({ id, deadAt }) => ids.includes(id) && deadAt !== null).length ===
    ids.length;
  while (!(await died())) {
    time.forward(hour);
    await delay(10);
  }
}

export function deadLetterContract(fresh: Fresh): void {
  describe("a dead letter (X9, F17)", () => {
    it("is made of a job that fails for 24 hours, frees its key, and can be listed", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await ring(store, "a1", { key: "k" });
      await ring(store, "a2", { key: "k" });
      const done: string[] = [];
      await using _ = startWorker(
        store,
        async ({ id }) => {
          if (id === "a1") throw new Error("broken");
          done.push(id);
          return "done";
        },
        time,
      );
      await letDie(store, time, ["a1"]);
      await until(() => done.length === 1, "the next of the key");
      const [dead, ...rest] = await deadJobs(store.db, {
        instanceId: "one",
        kind: "bell.carry",
        limit: 10,
      });
      assert.deepEqual(rest, []);
      assert.deepEqual([dead?.id, dead?.lastError], ["a1", "INTERNAL"]);
      assert.ok(dead?.failingSince && dead.deadAt);
      assert.ok(dead.deadAt.getTime() - dead.failingSince.getTime() >= 24 * hour);
      await delay(60);
      assert.equal((await stored(store))[0]?.attempts, dead.attempts, "it is tried no more");
    });
    it("is listed page by page", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      const ids = ["a", "b", "c", "d", "e"];
      for (const id of ids) await ring(store, id);
      await using _ = startWorker(store, () => Promise.reject(new Error("broken")), time);
      await letDie(store, time, ids);
      const listed: string[] = [];
      const of = { instanceId: "one", kind: "bell.carry", limit: 2 };
      for (let page = await deadJobs(store.db, of); page.length > 0; ) {
        listed.push(...page.map(({ id }) => id));
        const after = page.at(-1);
        page = after ? await deadJobs(store.db, { ...of, after }) : [];
      }
      assert.deepEqual(listed.toSorted(), ids);
      assert.deepEqual(await deadJobs(store.db, { ...of, instanceId: "two" }), []);
      assert.deepEqual(await deadJobs(store.db, { ...of, kind: "other" }), []);
    });
    it("is done after all when somebody brings it back, under its old id, once", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await ring(store, "a");
      let broken = true;
      const attempts: string[] = [];
      await using _ = startWorker(
        store,
        async ({ id, attempt }) => {
          if (broken) throw new Error("broken");
          attempts.push(`${id} ${attempt}`);
          return "done";
        },
        time,
      );
      await letDie(store, time, ["a"]);
      broken = false;
      await reviveIt(store, "a");
      await until(async () => (await stored(store)).length === 0, "it is done");
      assert.deepEqual(attempts, ["a 1"]);
      await assert.rejects(reviveIt(store, "a"), (error) => {
        assert.ok(error instanceof DomainError);
        assert.deepEqual([error.kind, error.reason], ["notFound", "DEAD_JOB_NOT_FOUND"]);
        return true;
      });
    });
    it("is brought back by its own instance alone", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await ring(store, "a");
      const worker = startWorker(store, () => Promise.reject(new Error("broken")), time);
      await letDie(store, time, ["a"]);
      await worker[Symbol.asyncDispose]();
      const other = { instanceId: "two", id: "a", position: "own" } as const;
      const reviving = store.events.transact({ ...by, instanceId: "two" }, (tx) =>
        revive(store.db, tx, other),
      );
      await assert.rejects(reviving, { reason: "DEAD_JOB_NOT_FOUND" });
      assert.notEqual((await stored(store))[0]?.deadAt, null);
    });
    it("comes back behind the others of its key", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await ring(store, "a1", { key: "k" });
      const worker = startWorker(store, () => Promise.reject(new Error("broken")), time);
      await letDie(store, time, ["a1"]);
      await worker[Symbol.asyncDispose]();
      await ring(store, "a2", { key: "k" });
      await reviveIt(store, "a1");
      const log: string[] = [];
      await using _ = startWorker(store, async ({ id }) => (log.push(id), "done"), time);
      await until(() => log.length === 2, "both");
      assert.deepEqual(log, ["a2", "a1"]);
    });
    it("is made of a job that kills its process for 24 hours", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await ring(store, "a");
      // As a crashed worker leaves it.
      const crashed = { leaseHolder: "gone", leaseUntil: time.now(), token: 1, attempts: 1 };
      const changes = [{ op: "update" as const, table: jobs, where: { id: "a" }, values: crashed }];
      await store.db.commit({ instanceId: "one", expect: [], claims: [], events: [], changes });
      time.forward(1_000);
      let runs = 0;
      const hanging = () => {
        runs += 1;
        return new Promise<never>(() => {});
      };
      const pace = { stopWithinMs: 1, renewMs: 60_000, leaseMs: 1_000 };
      for (let round = 0; (await stored(store))[0]?.deadAt === null; round++) {
        assert.ok(round < 10, "it dies");
        const before = runs;
        const worker = startWorker(store, hanging, { now: time.now, pace });
        await until(
          async () => runs > before || (await stored(store))[0]?.deadAt !== null,
          "another crash",
        );
        // It is left as it is: nothing frees the lease but time.
        void worker[Symbol.asyncDispose]();
        time.forward(6 * hour);
      }
      assert.equal((await stored(store))[0]?.lastError, "JOB_CRASHED");
      assert.ok(runs >= 4);
    });
    it("is counted among the metrics, beside those that wait", async () => {
      const time = clock();
      await using store = await fresh(time.now);
      await ring(store, "a");
      const worker = startWorker(store, () => Promise.reject(new Error("broken")), time);
      await letDie(store, time, ["a"]);
      await worker[Symbol.asyncDispose]();
      await ring(store, "b");
      await ring(store, "c");
      const counts = await countJobs(store.db, ["bell.carry", "idle"]);
      assert.deepEqual(
        counts.map(({ labels, value }) => [labels.kind, labels.state, value]),
        [
          ["bell.carry", "open", 2],
          ["bell.carry", "dead", 1],
          ["idle", "open", 0],
          ["idle", "dead", 0],
          ["other", "open", 0],
          ["other", "dead", 0],
        ],
      );
      const unknown = await countJobs(store.db, []);
      assert.deepEqual(
        unknown.map(({ value }) => value),
        [2, 1],
      );
    });
  });
}
