import type { Invariant } from "../../../eventstore/settle.ts";
import type { Database } from "../../../storage/database.ts";
import { rowCounts } from "../../../storage/kernel-tables.ts";
import type { AnyTable } from "../../../storage/table.ts";
import { countIn, quotaExhausted, quotasReader } from "./quotas.ts";

// More than can be under way at once: while there is room for them, units need not wait for each other.
const farAway = 10_000n;

/**
 * An instance has at most as many objects as its quota says, whoever makes them and on whichever replica. Units that make
 * some wait for each other only when few are left.
 *
 * @param of.table their table, which counts its rows by the instance
 * @param of.made what happens to an object when it is made
 */
export const withinQuota = (
  db: Database,
  of: { quota: "users" | "organizations"; table: AnyTable; made: readonly string[] },
): Invariant => {
  const quotasOf = quotasReader(db);
  return {
    after: of.made,
    async hold(tx, { instanceId }, happened) {
      const most = (await quotasOf(instanceId))?.[of.quota];
      if (most === undefined) return;
      const { rows, where } = await countIn(db, of.table, instanceId);
      const left = BigInt(most) - rows - BigInt(happened.length);
      if (left < 0n) throw quotaExhausted(of.quota, most);
      if (left >= farAway) return;
      if (rows === 0n) tx.expectRows(rowCounts, where, 0);
      else tx.expectRows(rowCounts, { ...where, rows }, 1);
    },
  };
};
