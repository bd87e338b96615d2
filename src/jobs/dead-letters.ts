import { notFound } from "../errors.ts";
import type { Transaction } from "../eventstore/transaction.ts";
import type { Database } from "../storage/database.ts";
import { and, asc, eq, gt, gte, isNotNull, or } from "../storage/drizzle.ts";
import { PendingSequence, updateRows } from "../storage/row-change.ts";
import { free, type JobRow, jobs } from "./job.ts";
import { fenceOf, keyOf } from "./queue.ts";

/** Jobs that are tried no more, the longest dead first, from behind the given one on. */
export async function deadJobs(
  db: Database,
  of: { instanceId: string; kind: string; after?: Pick<JobRow, "deadAt" | "id">; limit: number },
): Promise<JobRow[]> {
  const t = db.table(jobs);
  const { deadAt, id } = of.after ?? {};
  const later =
    deadAt && id !== undefined
      ? and(gte(t.deadAt, deadAt), or(gt(t.deadAt, deadAt), gt(t.id, id)))
      : undefined;
  return db.read
    .select()
    .from(t)
    .where(and(eq(t.instanceId, of.instanceId), eq(t.kind, of.kind), isNotNull(t.deadAt), later))
    .orderBy(asc(t.deadAt), asc(t.id))
    .limit(of.limit);
}

/**
 * Brings a dead job back with the id it had and its tries counted anew: behind all others of its key, for which the unit
 * must record an event, or at the position that it had.
 * @throws NOT_FOUND DEAD_JOB_NOT_FOUND
 */
export async function revive(
  db: Database,
  tx: Transaction,
  at: { instanceId: string; id: string; position?: "behind" | "own" },
): Promise<void> {
  const t = db.table(jobs);
  const [job] = await db.read
    .select()
    .from(t)
    .where(and(eq(t.instanceId, at.instanceId), eq(t.id, at.id), isNotNull(t.deadAt)));
  if (job === undefined)
    throw notFound("DEAD_JOB_NOT_FOUND", "no dead job has this id: it may be at work again");
  const { table, where, count } = fenceOf(job);
  tx.expectRows(table, where, count);
  tx.write(
    updateRows(jobs, keyOf(job), {
      ...free,
      ...(at.position === "own" ? {} : { position: new PendingSequence(0) }),
      token: job.token + 1,
      dueAt: tx.now,
      attempts: 0,
      failingSince: null,
      deadAt: null,
    }),
  );
}
