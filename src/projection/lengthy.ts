import { columnsWhere } from "./rows.ts";
import type { Database, Snapshots } from "../storage/database.ts";
import { type SQL, sql } from "../storage/drizzle.ts";
import { rowCounts } from "../storage/kernel-tables.ts";
import type { Table } from "../storage/table.ts";

/** Reading each of so many rows takes a few milliseconds. */
const manyRows = 10_000;

/**
 * Chooses how to run a read that may go through all rows of a table: where there are many rows, by `Database.lengthy`.
 *
 * @param ofInstance keeps the rows of the instance; without it those of all instances are read
 */
export async function readsOf(
  db: Database,
  table: Table,
  { instanceId, ofInstance }: { instanceId: string; ofInstance: SQL | undefined },
): Promise<Snapshots> {
  const rows =
    ofInstance !== undefined && table.countedBy === "instanceId"
      ? await counted(db, table, instanceId)
      : await countedUpTo(db, table, ofInstance);
  return readsOfMany(db, rows, instanceId);
}

/** The same, where the number of rows is known. */
export const readsOfMany = (db: Database, rows: number, instanceId: string): Snapshots =>
  rows < manyRows ? db : db.lengthy(instanceId);

async function counted(db: Database, table: Table, instanceId: string): Promise<number> {
  const of = { tableName: table.name, counted: instanceId };
  const [found] = await columnsWhere(db, rowCounts, ["rows"], of);
  return Number(found?.rows ?? 0);
}

/** No more than `manyRows`: these are walked in an index. */
async function countedUpTo(db: Database, table: Table, where: SQL | undefined): Promise<number> {
  const last = await db.read
    .select({ one: sql`1` })
    .from(db.table(table))
    .where(where)
    .limit(1)
    .offset(manyRows - 1);
  return last.length === 0 ? 0 : manyRows;
}
