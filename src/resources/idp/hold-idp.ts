import { idpNotFound } from "./idp.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { columnsWhere } from "../../projection/rows.ts";
import { idps } from "./projection.ts";

/**
 * Makes sure that an organization has a provider, active or not, and that it is still there when the unit commits: nothing
 * that belongs to it outlives it.
 *
 * @throws NOT_FOUND IDP_NOT_FOUND
 */
export async function holdIdp(
  db: Database,
  tx: Transaction,
  at: { instanceId: string; organizationId: string },
  id: string,
): Promise<void> {
  const { instanceId } = at;
  const seen = { instanceId, id, organizationId: ["", at.organizationId] };
  const [row] = await columnsWhere(db, idps, ["id"], seen);
  if (row === undefined) throw idpNotFound();
  tx.expectRows(idps, { instanceId, id }, 1);
}
