import type { Database } from "../storage/database.ts";
import { asc, type Column, lte } from "../storage/drizzle.ts";
import { deleteRows, type RowChange } from "../storage/row-change.ts";
import type { AnyTable } from "../storage/table.ts";
import type { Sweep } from "./sweeper.ts";

/**
 * Removes rows of short-lived state from when their `expiresAt` has come (C7). Without an event: what came of them
 * is in the log. A row that was written anew meanwhile stays.
 */
export function sweepExpiredRows(
  { db, now }: { db: Database; now: () => Date },
  table: AnyTable,
  /** What goes with a row, in the same unit. */
  withRow: (row: Record<string, unknown>) => readonly RowChange[] = () => [],
): Sweep {
  const { instanceId, expiresAt } = db.table(table) as unknown as Record<string, Column>;
  if (instanceId === undefined || expiresAt === undefined) {
    throw new Error(`rows of ${table.name} do not expire`);
  }
  // Who reads other parts of the table from memory is not disturbed.
  const part = table.cachedBy === undefined ? [] : [table.cachedBy];
  const identity = [...new Set([...table.key, ...part, "expiresAt"])];
  return async (limit) => {
    const due: Record<string, unknown>[] = await db.read
      .select()
      .from(db.table(table))
      .where(lte(expiresAt, now()))
      .orderBy(asc(expiresAt))
      .limit(limit);
    for (const [of, rows] of Map.groupBy(due, (row) => String(row["instanceId"]))) {
      const changes = rows.flatMap((row) => [
        deleteRows(table, Object.fromEntries(identity.map((name) => [name, row[name]]))),
        ...withRow(row),
      ]);
      await db.commit({ instanceId: of, expect: [], claims: [], events: [], changes });
    }
    return due.length;
  };
}
