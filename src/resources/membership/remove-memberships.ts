import type { Reaction } from "../../eventstore/settle.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { allIds, someIds } from "../../projection/ids.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import type { Row } from "../../storage/table.ts";
import { cascadeMember, membership } from "./membership.ts";
import { memberships } from "./projection.ts";

/** What goes, and which memberships go with it. */
const gone: Readonly<Record<string, (id: string) => Partial<Row<typeof memberships>>>> = {
  "user.removed": (userId) => ({ userId }),
  "project.removed": (contextId) => ({ contextType: "project", contextId }),
  "project.grant.removed": (contextId) => ({ contextType: "projectGrant", contextId }),
};

/** Memberships go with users, projects and project grants. One that is given meanwhile makes the decision be taken anew. */
export const membershipsGoAlong = ({ db }: Pick<Deps, "db">): Reaction => ({
  to: Object.keys(gone),
  async react(tx, happened) {
    const { instanceId } = tx.at;
    for (const { type, aggregateId } of happened) {
      const where = { instanceId, ...gone[type]?.(aggregateId) };
      await remove(tx, await allIds(db, tx, memberships, where));
    }
  },
});

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
