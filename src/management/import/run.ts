import { handle, type JobHandlers, type RunningJob } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { and, asc, eq, gt, isNull, or } from "../../storage/drizzle.ts";
import { deleteRows, updateRows } from "../../storage/row-change.ts";
import { batchWorker, type Batch, type Import, type ImportDeps } from "./batch.ts";
import { presenceIn } from "./from.ts";
import { importJob } from "./job.ts";
import { createPace } from "./pace.ts";
import type { RankedKind } from "./kinds.ts";
import { payloadOwner } from "./payload.ts";
import { importBatches, importNotes, imports } from "./tables.ts";

// After so much work others of the kind get their turn, and a crash later on is the first one again.
const turnMs = 5_000;
// Each batch is fenced: a worker that only stood still loses its batch and no more.
const leaseMs = 5_000;
const batchesAPage = 50;

/**
 * Imports the batches that wait, one after the other, by units that bring their outcomes: what a crash leaves is done or
 * not begun, and says so. While the last records of one batch are written the next one is read.
 */
export function importJobs(deps: ImportDeps, kinds: ReadonlyMap<string, RankedKind>): JobHandlers {
  const { db, events, secrets, now } = deps;
  const batches = batchWorker(deps, kinds);
  const paces = createPace();

  /** Says that all is done, if still nobody has stopped it. */
  async function complete(job: RunningJob<unknown>, { instanceId, id, importedBy }: Import) {
    // It writes no events, and so tells of nobody who was there.
    await events.transact({ ...importedBy, instanceId }, async (tx) => {
      await job.finish(tx);
      tx.expectRows(imports, { instanceId, id, state: "running" }, 1);
      tx.write(
        updateRows(imports, { instanceId, id }, { state: "completed", changeDate: tx.now }),
        deleteRows(importNotes, { instanceId, importId: id }),
      );
    });
  }

  const lane = {
    parallel: 1,
    perGroup: 1,
    leaseMs,
    limits: () => new Map<string, number>(),
    whenDead: ({ instanceId, key: id }: { instanceId: string; key: string }, at: Date) => [
      updateRows(imports, { instanceId, id }, { state: "failed", changeDate: at }),
      secrets.removeAllOf(payloadOwner(instanceId, id)),
    ],
  };

  return handle(
    importJob,
    async (job) => {
      const end = now().getTime() + turnMs;
      let of = await read(db, job.instanceId, job.key);
      if (of === undefined) return "done";
      const { isDryRun } = of;
      const from = await presenceIn(deps, of);
      const all = waiting(db, of);
      using pace = paces.measure();
      const next = async () => {
        const { done, value: batch } = await all.next();
        if (done === true) return undefined;
        try {
          return await batches.prepare(isDryRun, batch);
        } catch (error) {
          // Of an import that was stopped meanwhile the records are gone; the next look at it tells.
          if ((await read(db, job.instanceId, job.key))?.state === "running") throw error;
          return undefined;
        }
      };
      let ready = await next();
      while (!job.signal.aborted && now().getTime() < end) {
        of = await read(db, job.instanceId, job.key);
        if (of?.state !== "running") return "done";
        if (ready === undefined) {
          await complete(job, of);
          return "done";
        }
        const left = ready.begun.length - ready.outcomes.length;
        const records = Math.min(pace.records(), left);
        const [rest, following] = await Promise.all([
          batches.work(job, { ...of, ...from }, ready, records),
          records === left ? next() : undefined,
        ]);
        ready = rest ?? following;
        await pace.judge(records);
      }
      job.signal.throwIfAborted();
      return "again";
    },
    lane,
  );
}

/** What waits of an import, in its order. */
async function* waiting(db: Deps["db"], { instanceId, id }: Import): AsyncGenerator<Batch> {
  const b = db.table(importBatches);
  const { instanceId: instance, importId, rank, number, kind, outcomes } = b;
  for (let last: Batch | undefined; ; ) {
    const later =
      last && or(gt(rank, last.rank), and(eq(rank, last.rank), gt(number, last.number)));
    const page: Batch[] = await db.read
      .select({ instanceId: instance, importId, rank, number, kind, outcomes })
      .from(b)
      .where(and(eq(instance, instanceId), eq(importId, id), isNull(b.doneAt), later))
      .orderBy(asc(rank), asc(number))
      .limit(batchesAPage);
    yield* page;
    if (page.length < batchesAPage) return;
    last = page.at(-1);
  }
}

async function read(db: Deps["db"], instanceId: string, id: string): Promise<Import | undefined> {
  const i = db.table(imports);
  const [row] = await db.read
    .select()
    .from(i)
    .where(and(eq(i.instanceId, instanceId), eq(i.id, id)));
  return row;
}
