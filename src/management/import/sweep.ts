import type { Sweep } from "../../jobs/sweeper.ts";
import type { Deps } from "../../projection/module.ts";
import { asc, lte } from "../../storage/drizzle.ts";
import { deleteRows, type RowChange } from "../../storage/row-change.ts";
import { payloadOwner } from "./payload.ts";
import { importBatches, importNotes, imports } from "./tables.ts";

/** Removes imports whose reports have expired, and those that were never received whole, with all that they hold. */
export const sweepImports = ({ db, secrets, now }: Deps): Sweep => {
  const t = db.table(imports);
  return async (limit) => {
    const due = await db.read
      .select({ instanceId: t.instanceId, id: t.id })
      .from(t)
      .where(lte(t.expiresAt, now()))
      .orderBy(asc(t.expiresAt))
      .limit(limit);
    for (const { instanceId, id } of due) {
      const changes = forgetting({ secrets }, instanceId, id);
      await db.commit({ instanceId, expect: [], claims: [], events: [], changes });
    }
    return due.length;
  };
};

/** All that an import has beside what it created. */
export const forgetting = (
  { secrets }: Pick<Deps, "secrets">,
  instanceId: string,
  id: string,
): RowChange[] => [
  deleteRows(imports, { instanceId, id }),
  deleteRows(importBatches, { instanceId, importId: id }),
  deleteRows(importNotes, { instanceId, importId: id }),
  secrets.removeAllOf(payloadOwner(instanceId, id)),
];
