import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { holdJobs, jobsHeldSince, releaseJobs } from "../../src/jobs/hold.ts";
import type { Fresh } from "./contract.ts";
import { ring, startWorker, stored, until } from "./place.ts";

const now = new Date("2026-11-21T10:00:00Z");
const manyPollsMs = 200;
// What is promised to who holds them; the polls of this worker are more frequent, and may come late on a busy machine.
const noticedWithinMs = 1_000;

export function holdContract(fresh: Fresh): void {
  describe("jobs that are held (F27)", () => {
    it("wait, those that come anew as well, until they are released", async () => {
      await using store = await fresh();
      await ring(store, "before");
      await holdJobs(store.db, now);
      assert.deepEqual(await jobsHeldSince(store.db), now);
      const done: string[] = [];
      await using _ = startWorker(store, async ({ id }) => {
        done.push(id);
        return "done";
      });
      await ring(store, "after");
      await delay(manyPollsMs);
      assert.deepEqual(done, []);
      assert.deepEqual(
        (await stored(store)).map(({ id, attempts }) => [id, attempts]),
        [
          ["after", 0],
          ["before", 0],
        ],
      );

      await releaseJobs(store.db);
      await until(async () => (await stored(store)).length === 0, "both are done");
      assert.deepEqual(new Set(done), new Set(["after", "before"]));
      assert.equal(await jobsHeldSince(store.db), undefined);
    });

    it("are not begun any more once they are held while a worker is busy, and what is at work ends", async () => {
      await using store = await fresh();
      const begun: string[] = [];
      let finish = () => {};
      const mayFinish = new Promise<void>((resolve) => (finish = resolve));
      await using _ = startWorker(store, async ({ id }) => {
        begun.push(id);
        await mayFinish;
        return "done";
      });
      for (const id of ["1", "2"]) await ring(store, id, { key: "same" });
      await until(() => begun.length === 1, "the first is at work");
      await holdJobs(store.db, now);
      await delay(noticedWithinMs);
      finish();
      await until(async () => (await stored(store)).length === 1, "the first has ended");
      await delay(manyPollsMs);
      assert.deepEqual(begun, ["1"]);
      await releaseJobs(store.db);
      await until(async () => (await stored(store)).length === 0, "the second has ended");
      assert.deepEqual(begun, ["1", "2"]);
    });
  });
}
