import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { jobs } from "../../src/jobs/job.ts";
import { inArray } from "../../src/storage/drizzle.ts";
import type { TestApp } from "./app.ts";

// Whom a claim of a domain concerns is found out by a job that leaves messages.
const kinds = ["notice", "domain.claimed"];

/** Waits until all that users are to be told has been sent. */
export async function noticesSent({ kernel: { db } }: TestApp): Promise<void> {
  const t = db.table(jobs);
  const left = () => db.read.select({ id: t.id }).from(t).where(inArray(t.kind, kinds));
  for (const end = Date.now() + 10_000; (await left()).length > 0; await delay(10)) {
    assert.ok(Date.now() < end, "a message was not sent");
  }
}
