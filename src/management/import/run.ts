import { handle, type JobHandlers, type RunningJob } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { rowWhere } from "../../projection/rows.ts";
import { and, asc, eq, gt, isNull, or } from "../../storage/drizzle.ts";
import { deleteRows, updateRows } from "../../storage/row-change.ts";
import {
  batchWorker,
  type Batch,
  type Import,
  type ImportDeps,
  type Part,
  type Progress,
} from "./batch.ts";
import { presenceIn } from "./from.ts";
import { importJob } from "./job.ts";
import { createPace, type Pace } from "./pace.ts";
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
 * not begun, and says so. While the records of one part are written the next part is read, and decided where nothing of it depends
 * on them.
 */
export function importJobs(deps: ImportDeps, kinds: ReadonlyMap<string, RankedKind>): JobHandlers {
  const { db, secrets } = deps;
  const work = importWorker(deps, kinds);
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
      const of = await read(db, job.instanceId, job.key);
      return of === undefined ? "done" : await work(job, of);
    },
    lane,
  );
}

/** Works on an import until its turn is over, or all of it is done. */
function importWorker(deps: ImportDeps, kinds: ReadonlyMap<string, RankedKind>) {
  const { db, events, now } = deps;
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

  /** A batch as it can be worked on; of an import that was stopped meanwhile the records are gone. */
  async function prepared(job: RunningJob<unknown>, batch: Batch) {
    try {
      return await batches.prepare(batch);
    } catch (error) {
      if ((await read(db, job.instanceId, job.key))?.state === "running") throw error;
      return undefined;
    }
  }

  /** What waits, in parts as large as the pace has them when one is asked for. */
  async function* partsOf(job: RunningJob<unknown>, of: Import, pace: Pace): AsyncGenerator<Part> {
    for await (const batch of waiting(db, of)) {
      const ready = await prepared(job, batch);
      if (ready === undefined) return;
      for (let from = batch.outcomes.length; from < ready.begun.length; ) {
        const records = pace.records(ready.begun.length - from);
        yield { of: ready, from, records };
        from += records;
      }
    }
  }

  /** One part after the other, each decided while the one before is written, where it may be. */
  return async function work(job: RunningJob<unknown>, of: Import): Promise<"done" | "again"> {
    const end = now().getTime() + turnMs;
    const { isDryRun } = of;
    const asWho = { ...of, ...(await presenceIn(deps, of)) };
    using pace = paces.measure();
    const parts = partsOf(job, of, pace);
    const mayGoBeside = (part: Part, last: Part | undefined) =>
      !isDryRun && part.of.isIndependent && part.of.batch.kind === last?.of.batch.kind;
    let last: Part | undefined;
    let written = Promise.resolve<Progress>({ ...of, outcomes: [] });
    try {
      while (!job.signal.aborted && now().getTime() < end) {
        const { done, value: part } = await parts.next();
        if ((await read(db, job.instanceId, job.key))?.state !== "running") return "done";
        if (done === true) {
          await written;
          await complete(job, of);
          return "done";
        }
        if (!mayGoBeside(part, last)) await written;
        const { promise: handing, resolve: handedOver } = Promise.withResolvers<void>();
        written = batches.work(job, asWho, part, { before: written, handedOver });
        // It is waited for in the next round; a failure until then is not one that nobody hears of.
        written.catch(() => undefined);
        last = part;
        // The next part is begun when this one is being written: two that were decided at once would be written one after the other
        // while nothing is decided.
        await Promise.race([handing, written]);
        await pace.judge(part.records);
      }
      await written;
    } finally {
      // Nothing is written any more once this is over. What went wrong is thrown already.
      await written.catch(() => undefined);
    }
    job.signal.throwIfAborted();
    return "again";
  };
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

const read = (db: Deps["db"], instanceId: string, id: string): Promise<Import | undefined> =>
  rowWhere(db, imports, { instanceId, id });
