import type { Database } from "../storage/database.ts";
import { eq } from "../storage/drizzle.ts";
import { storeFacts } from "../storage/kernel-tables.ts";
import { deleteRows, putRow, type RowChange } from "../storage/row-change.ts";

// The fact is of the whole store.
const ownInstance = "";
const name = "jobs_held";

/**
 * The fact of a store whose jobs wait until they are released, by its name; the value tells since when. A backup has it,
 * because a copy must not send by itself what the original may have sent already (F27).
 */
export const heldSince = (now: Date): Record<string, Uint8Array> => ({
  [name]: Buffer.from(now.toISOString()),
});

/** Since when jobs are held; undefined while they are worked on. */
export async function jobsHeldSince(db: Database): Promise<Date | undefined> {
  const t = db.table(storeFacts);
  const [fact] = await db.read.select().from(t).where(eq(t.name, name));
  return fact && new Date(Buffer.from(fact.value).toString());
}

/** From within a second on, no worker of any process begins a job; those at work end as usual. */
export const holdJobs = (db: Database, now: Date): Promise<void> =>
  commit(
    db,
    Object.entries(heldSince(now)).map(([key, value]) => putRow(storeFacts, { name: key, value })),
  );

/** Lets workers begin again, within a second. */
export const releaseJobs = (db: Database): Promise<void> =>
  commit(db, [deleteRows(storeFacts, { name })]);

async function commit(db: Database, changes: RowChange[]): Promise<void> {
  await db.commit({ instanceId: ownInstance, expect: [], claims: [], events: [], changes });
}
