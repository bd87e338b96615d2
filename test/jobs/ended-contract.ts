import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Fresh } from "./contract.ts";
import { openStore, ring, startWorker, type Store, stored, until } from "./place.ts";

const pace = { leaseMs: 60_000, renewMs: 10_000, pollMs: 1_000, stopWithinMs: 0 };

/** A process that has begun with a job and does not come to its end. */
async function stuck(store: Store, place: Parameters<typeof openStore>[0]) {
  await using opened = new AsyncDisposableStack();
  const process = opened.use(await openStore(place, () => new Date()));
  const handler = () => new Promise<never>(() => {});
  const holder = process.db.processName;
  const worker = opened.use(startWorker(process, handler, { pace, holder }));
  await until(async () => (await stored(store))[0]?.attempts === 1, "the job is at work");
  opened.move();
  return { process, worker };
}

/** What becomes of jobs whose process ended in the middle of them, long before their lease is over (F17). */
export function endedContract(fresh: Fresh): void {
  describe("a job of a process that has ended", () => {
    it("goes on within 5 s of the next start, and counts as one that has crashed", async () => {
      await using store = await fresh();
      await ring(store, "a");
      const { process, worker } = await stuck(store, store.place);
      await process.db[Symbol.asyncDispose]();
      const attempts: number[] = [];
      const handler = async ({ attempt }: { attempt: number }) => {
        attempts.push(attempt);
        return "done" as const;
      };
      const more = { pace, holder: store.db.processName };
      await using _ = startWorker(store, handler, more);
      await until(() => attempts.length === 1, "it goes on");
      assert.deepEqual(attempts, [2]);
      await worker[Symbol.asyncDispose]();
    });
  });
}

/** The same where several processes serve one store. */
export function runningContract(fresh: Fresh): void {
  describe("a job of a process that runs", () => {
    it("is left to it, and goes on within 5 s of its end", async () => {
      await using store = await fresh();
      await ring(store, "a");
      const { process, worker } = await stuck(store, store.place);
      let begun = 0;
      const handler = async () => {
        begun += 1;
        return "done" as const;
      };
      await using _ = startWorker(store, handler, { pace, holder: store.db.processName });
      await delay(4_000);
      assert.equal(begun, 0);
      await process.db[Symbol.asyncDispose]();
      await until(() => begun === 1, "it goes on");
      await worker[Symbol.asyncDispose]();
    });
    it("is left to one of an earlier release, of which nothing is known", async () => {
      await using store = await fresh();
      assert.deepEqual(await store.db.endedOf(["host/17/125468", store.db.processName]), []);
      await delay(2_000);
      assert.deepEqual(await store.db.endedOf(["host/17/125468", store.db.processName]), []);
    });
  });
}
