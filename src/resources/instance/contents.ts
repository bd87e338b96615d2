import {
  decideOn,
  type Initiator,
  initiator,
  type Transaction,
  type WriteContext,
} from "../../eventstore/transaction.ts";
import { enqueue, handle, type JobHandlers, jobKind, type RunningJob } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { columnIn } from "../../projection/rows.ts";
import { eq, sql } from "../../storage/drizzle.ts";
import { deleteRows } from "../../storage/row-change.ts";
import type { AnyTable } from "../../storage/table.ts";
import { instanceEvents } from "./events.ts";
import { instance } from "./instance.ts";

type Leaving = { by: Initiator };

const removeContents = jobKind<Leaving>("instance.contents.remove");
const batchSize = 500;
// Calls that were under way when the instance went have ended by then: none writes a row behind the job.
const graceMs = 60_000;

/** A table, and the column that says which instance a row is of. */
export type Holding = { table: AnyTable; column: string };

/** Those of the tables that hold rows of instances. */
export const holdingsOf = (tables: readonly AnyTable[]): Holding[] =>
  tables
    .filter(({ columns }) => "instanceId" in columns)
    .map((table) => ({ table, column: "instanceId" }));

/** Makes sure, in the unit that deletes an instance, that what it leaves behind will be removed. */
export function removeContentsLater(tx: Transaction, id: string): void {
  const { instanceId } = tx.at;
  const by = initiator(tx.at);
  const dueAt = new Date(tx.now.getTime() + graceMs);
  tx.write(enqueue(removeContents, { instanceId, id, now: tx.now, dueAt }, { by }));
}

/**
 * Removes the rows of deleted instances, of all tables, in batches, until none is left; then `instance.contents.removed`
 * says so. The log stays: what it tells of persons was sealed with keys that went with the instance.
 */
export const instanceContentsJobs = (
  { db, events }: Pick<Deps, "db" | "events">,
  holdings: readonly Holding[],
): JobHandlers =>
  handle(removeContents, async (job) => {
    const { instanceId, signal } = job;
    const at: WriteContext = { ...job.payload.by, instanceId, signal };
    for (const holding of holdings) {
      const keys = await someKeys(db, holding, job);
      if (keys.length === 0) continue;
      await events.transact(at, async (tx) => {
        await job.fence(tx);
        tx.write(...keys.map((key) => deleteRows(holding.table, key)));
      });
      return "again";
    }
    await events.transact(at, async (tx) => {
      await job.finish(tx);
      await decideOn(tx, instance, instanceId, () => [instanceEvents["contents.removed"]({})]);
    });
    return "done";
  });

async function someKeys(
  db: Database,
  { table, column }: Holding,
  { instanceId, id }: RunningJob<Leaving>,
): Promise<Record<string, unknown>[]> {
  const key = Object.fromEntries(
    table.key.map((name) => {
      const part = columnIn(db, table, name);
      return [name, sql<unknown>`${part}`.mapWith(part)];
    }),
  );
  const rows: Record<string, unknown>[] = await db.read
    .select(key)
    .from(db.table(table))
    .where(eq(columnIn(db, table, column), instanceId))
    .limit(batchSize);
  // The job's own row goes last, with the event.
  return rows.filter((row) => table.name !== "jobs" || row["id"] !== id);
}
