import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { jobs } from "../../src/jobs/job.ts";
import { and, inArray, isNull } from "../../src/storage/drizzle.ts";
import type { TestApp } from "./app.ts";

// Whom a claim of a domain concerns is found out by a job that leaves messages.
const kinds = ["notice", "domain.claimed"];

/**
 * Waits until all that users are to be told has been sent.
 * @param given.untried waits only for what was not tried yet: what is refused or put off is tried again much later
 */
export async function noticesSent(
  { kernel: { db } }: TestApp,
  given: { untried?: true } = {},
): Promise<void> {
  const t = db.table(jobs);
  const untried = given.untried ? isNull(t.lastError) : undefined;
  const left = () =>
    db.read
      .select({
        kind: t.kind,
        dueAt: t.dueAt,
        attempts: t.attempts,
        deadAt: t.deadAt,
        error: t.lastError,
      })
      .from(t)
      .where(and(inArray(t.kind, kinds), untried));
  const end = Date.now() + 60_000;
  for (let rows = await left(); rows.length > 0; rows = await left()) {
    if (Date.now() > end) assert.fail(`not sent: ${JSON.stringify(rows)}`);
    await delay(10);
  }
}
