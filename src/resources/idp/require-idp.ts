import { idpNotFound } from "./idp.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { equals } from "../../projection/rows.ts";
import { and, inArray } from "../../storage/drizzle.ts";
import { idps } from "./projection.ts";

/**
 * Makes sure that an organization has a provider, active or not, and that it is still there when the unit commits: nothing
 * that belongs to it outlives it.
 *
 * @throws NOT_FOUND IDP_NOT_FOUND
 */
export async function requireIdp(
  db: Database,
  tx: Transaction,
  at: { instanceId: string; organizationId: string },
  id: string,
): Promise<void> {
  const t = db.table(idps);
  const { instanceId } = at;
  const [row] = await db.read
    .select({ id: t.id })
    .from(t)
    .where(
      and(equals(db, idps, { instanceId, id }), inArray(t.organizationId, ["", at.organizationId])),
    );
  if (row === undefined) throw idpNotFound();
  tx.expectRows(idps, { instanceId, id }, 1);
}
