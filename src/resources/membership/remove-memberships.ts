import type { Transaction } from "../../eventstore/transaction.ts";
import { allIds, someIds } from "../../projection/ids.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import type { Row } from "../../storage/table.ts";
import { cascadeMember, membership } from "./membership.ts";
import { memberships } from "./projection.ts";

type Where = Partial<Row<typeof memberships>>;

/** Ends every membership of a user who goes. One that is given meanwhile makes the decision be taken anew. */
export const removeMembershipsOf = (
  db: Database,
  tx: Transaction,
  user: { instanceId: string; userId: string },
): Promise<void> => removeWhere(db, tx, user);

/** Ends every membership of a project or a project grant that goes, in the same manner. */
export const removeMembershipsIn = (
  db: Database,
  tx: Transaction,
  context: { instanceId: string; contextType: "project" | "projectGrant"; contextId: string },
): Promise<void> => removeWhere(db, tx, context);

async function removeWhere(db: Database, tx: Transaction, where: Where): Promise<void> {
  await remove(tx, await allIds(db, tx, memberships, where));
}

/** Ends up to `limit` memberships in an organization that goes and in what is below it; tells how many there were. */
export const removeContentsOfMemberships =
  ({ db, events }: Deps): RemoveContents =>
  async (at, organizationId, limit) => {
    const ofOrganization = { instanceId: at.instanceId, organizationId };
    const ids = await someIds(db, memberships, ofOrganization, limit);
    await events.transact(at, (tx) => remove(tx, ids));
    return ids.length;
  };

async function remove(tx: Transaction, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const loaded = await tx.load(membership, id);
    tx.record(membership, loaded, cascadeMember(loaded.state));
  }
}
