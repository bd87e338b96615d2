import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { jobs } from "../../src/jobs/job.ts";
import type { Database } from "../../src/storage/database.ts";
import { inArray } from "../../src/storage/drizzle.ts";

const kinds = ["org.contents.remove", "idp.links.remove"];

/** Waits until what was deleted has left nothing behind: jobs remove it, and write events of that. */
export async function removalsEnd(db: Database, patienceMs = 20_000): Promise<void> {
  const t = db.table(jobs);
  const left = () => db.read.select({ id: t.id }).from(t).where(inArray(t.kind, kinds));
  for (const end = Date.now() + patienceMs; (await left()).length > 0; await delay(10)) {
    assert.ok(Date.now() < end, "what was left to a job stays");
  }
}
