import { jobs } from "../../jobs/job.ts";
import type { Sweep } from "../../jobs/sweeper.ts";
import type { Deps } from "../../projection/module.ts";
import { and, asc, desc, eq, isNotNull, lte } from "../../storage/drizzle.ts";
import { deleteRows, updateRows } from "../../storage/row-change.ts";
import { type DeliveryRow, deliveries } from "./table.ts";
import { payloadRef } from "./work.ts";

/** So many records of ended deliveries an instance has at most: the oldest go first. */
const mostRecords = 100_000;

/** Removes records whose time is over with what belongs to them: a dead delivery can be repeated no more then. */
export function sweepDeliveries({ db, secrets, now }: Pick<Deps, "db" | "secrets" | "now">): Sweep {
  const t = db.table(deliveries);
  const identity = ({ instanceId, id }: DeliveryRow) => ({ instanceId, id });

  async function remove(rows: readonly DeliveryRow[]): Promise<void> {
    for (const [instanceId, ended] of Map.groupBy(rows, (row) => row.instanceId)) {
      const changes = ended.flatMap((row) => [
        // One that is being repeated has no end now: it stays.
        deleteRows(deliveries, { ...identity(row), expiresAt: row.expiresAt }),
        ...(row.state === "dead"
          ? [deleteRows(jobs, identity(row)), secrets.remove(payloadRef(instanceId, row.id))]
          : []),
      ]);
      const expect = ended.map((row) => ({
        kind: "rows" as const,
        table: deliveries,
        where: { ...identity(row), expiresAt: row.expiresAt },
        count: 1,
      }));
      await db.commit({ instanceId, expect, claims: [], events: [], changes });
    }
  }

  return async (limit) => {
    const over = await db.read
      .select()
      .from(t)
      .where(lte(t.expiresAt, now()))
      .orderBy(asc(t.expiresAt))
      .limit(limit);
    await remove(over);
    return over.length;
  };
}

/** Removes what an instance has beyond the most that is kept, the oldest first. */
export function sweepCrowded({ db, now }: Pick<Deps, "db" | "now">, most = mostRecords): Sweep {
  const t = db.table(deliveries);
  return async (limit) => {
    const instances = await db.read.selectDistinct({ instanceId: t.instanceId }).from(t);
    let found = 0;
    for (const { instanceId } of instances) {
      const ended = and(eq(t.instanceId, instanceId), isNotNull(t.expiresAt));
      const [last] = await db.read
        .select({ at: t.creationDate })
        .from(t)
        .where(ended)
        .orderBy(desc(t.creationDate), desc(t.id))
        .limit(1)
        .offset(most);
      if (last === undefined) continue;
      const rows = await db.read
        .select({ id: t.id, state: t.state, expiresAt: t.expiresAt })
        .from(t)
        .where(and(ended, lte(t.creationDate, last.at)))
        .orderBy(asc(t.creationDate))
        .limit(limit);
      // Their time is over at once; the other sweep knows what belongs to them.
      const changes = rows
        .filter((row) => row.expiresAt !== null && row.expiresAt > now())
        .map((row) => expireNow({ instanceId, id: row.id, expiresAt: row.expiresAt }, now()));
      if (changes.length > 0)
        await db.commit({ instanceId, expect: [], claims: [], events: [], changes });
      found += changes.length;
    }
    return found;
  };
}

const expireNow = (where: { instanceId: string; id: string; expiresAt: Date | null }, now: Date) =>
  updateRows(deliveries, where, { expiresAt: now });
