import { type DomainError, resourceExhausted } from "../../../errors.ts";
import type { Database } from "../../../storage/database.ts";
import { rowsWhere } from "../../../projection/rows.ts";
import { rowCounts } from "../../../storage/kernel-tables.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import type { AnyTable } from "../../../storage/table.ts";
import type { Quotas } from "../events.ts";
import { instanceLimits } from "../projection.ts";

const names: Record<keyof Quotas, string> = {
  users: "users",
  organizations: "organizations",
  requestsPerDay: "requests_per_day",
  tokensPerDay: "tokens_per_day",
};

/** The quotas of an instance, from memory while no limits have changed; undefined where it has none. */
export function quotasReader(db: Database) {
  // Limits are in the log of the system.
  const read = cachedRead(db, [instanceLimits], async (_, id) => {
    const [row] = await rowsWhere(db, instanceLimits, { id });
    return row?.quotas ?? undefined;
  });
  return (instanceId: string) => read("", instanceId);
}

/** How many rows an instance has in a table that counts them by the instance, and the count as a row that can be expected. */
export async function countIn(
  db: Database,
  { name }: AnyTable,
  instanceId: string,
): Promise<{ rows: bigint; where: { tableName: string; counted: string } }> {
  const where = { tableName: name, counted: instanceId };
  const [found] = await rowsWhere(db, rowCounts, where);
  return { rows: found?.rows ?? 0n, where };
}

/**
 * RESOURCE_EXHAUSTED QUOTA_EXHAUSTED, or DAILY_QUOTA_EXHAUSTED where there is more again on the next day.
 *
 * @param retryAfterSeconds when the next day begins, for a quota of a day
 */
export const quotaExhausted = (
  quota: keyof Quotas,
  most: number,
  retryAfterSeconds?: number,
): DomainError =>
  resourceExhausted(
    retryAfterSeconds === undefined ? "QUOTA_EXHAUSTED" : "DAILY_QUOTA_EXHAUSTED",
    `the instance may have ${most} ${names[quota].replaceAll("_", " ")}: whoever runs the service sets its quotas`,
    {
      metadata: { quota: names[quota], most: String(most) },
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  );
