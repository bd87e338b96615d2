import type { Reaction } from "../../eventstore/settle.ts";
import type { WriteContext } from "../../eventstore/transaction.ts";
import { allIds, someIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { deleteProjectGrant } from "./delete-project-grant.ts";
import { projectGrants } from "./project-grant/project-grant.ts";
import { roles } from "./role/role.ts";
import {
  cascadeMostUserGrants,
  cascadeSomeUserGrants,
  cascadeUserGrants,
} from "./user-grant/cascade.ts";

/** The roles, project grants and user grants of a project go with it. */
export const grantsGoWithProject = ({ db, events }: Pick<Deps, "db" | "events">): Reaction => ({
  to: ["project.removed"],
  async react(tx, happened) {
    const { instanceId } = tx.at;
    for (const { aggregateId: projectId } of happened) {
      const inProject = { instanceId, projectId };
      for (const id of await allIds(db, tx, roles.table, inProject)) {
        const loaded = await tx.load(roles.aggregate, id);
        tx.record(roles.aggregate, loaded, roles.remove(loaded.state));
      }
      for (const id of await allIds(db, tx, projectGrants.table, inProject)) {
        const loaded = await tx.load(projectGrants.aggregate, id);
        tx.record(projectGrants.aggregate, loaded, projectGrants.remove(loaded.state));
      }
      await cascadeUserGrants(db, tx, instanceId, { projectId });
    }
  },
  ahead: (at, projectId) => cascadeMostUserGrants({ db, events }, at, { projectId }),
});

/** The user grants of a user go with them. */
export const grantsGoWithUser = ({ db }: Pick<Deps, "db">): Reaction => ({
  to: ["user.removed"],
  async react(tx, happened) {
    for (const { aggregateId: userId } of happened) {
      await cascadeUserGrants(db, tx, tx.at.instanceId, { userId });
    }
  },
});

/**
 * Removes up to `limit` of the project grants that an organization was given, then of the user grants that it gave;
 * tells how many. What hangs on its own projects goes with these.
 */
export const removeContentsOfGrants =
  (deps: Deps) =>
  async (at: WriteContext, organizationId: string, limit: number): Promise<number> => {
    const given = { instanceId: at.instanceId, grantedOrganizationId: organizationId };
    const grants = await someIds(deps.db, projectGrants.table, given, limit);
    for (const id of grants) await deleteProjectGrant(deps, at, id);
    const left = limit - grants.length;
    if (left === 0) return limit;
    return grants.length + (await cascadeSomeUserGrants(deps, at, { organizationId }, left));
  };
