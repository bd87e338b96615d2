import type { Sweep } from "../../../jobs/sweeper.ts";
import type { Deps } from "../../../projection/module.ts";
import { asc, lte } from "../../../storage/drizzle.ts";
import { deleteRows } from "../../../storage/row-change.ts";
import { identityRef, idpIntents } from "./table.ts";

/** Removes logins whose time is over, with what the provider said. */
export const sweepIdpIntents =
  ({ db, secrets, now }: Pick<Deps, "db" | "secrets" | "now">): Sweep =>
  async (limit) => {
    const t = db.table(idpIntents);
    const due = await db.read
      .select({ instanceId: t.instanceId, id: t.id, expiresAt: t.expiresAt })
      .from(t)
      .where(lte(t.expiresAt, now()))
      .orderBy(asc(t.expiresAt))
      .limit(limit);
    for (const [instanceId, rows] of Map.groupBy(due, (row) => row.instanceId)) {
      // One that has just succeeded has more time, and stays whole.
      const expect = rows.map((where) => ({
        kind: "rows" as const,
        table: idpIntents,
        where,
        count: 1,
      }));
      const changes = rows.flatMap((row) => [
        deleteRows(idpIntents, row),
        secrets.remove(identityRef(instanceId, row.id)),
      ]);
      await db.commit({ instanceId, expect, claims: [], events: [], changes });
    }
    return due.length;
  };
