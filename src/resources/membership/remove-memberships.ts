import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { cascadeMember, membership } from "./membership.ts";
import { memberships } from "./projection.ts";

/** Ends every membership of a user who goes. One that is given meanwhile makes the decision be taken anew. */
export async function removeMembershipsOf(
  db: Database,
  tx: Transaction,
  user: { instanceId: string; userId: string },
): Promise<void> {
  const t = db.table(memberships);
  const rows = await db.read
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.instanceId, user.instanceId), eq(t.userId, user.userId)));
  tx.expectRows(memberships, user, rows.length);
  for (const { id } of rows) {
    const loaded = await tx.load(membership, id);
    tx.record(membership, loaded, cascadeMember(loaded.state));
  }
}
