import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import { allIds, someIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { deleteProjectGrant, removeGrant } from "./delete-project-grant.ts";
import { projectGrants } from "./project-grant/projection.ts";
import { projectRoles } from "./role/projection.ts";
import { removeRole, role } from "./role/role.ts";
import {
  cascadeMostUserGrants,
  cascadeSomeUserGrants,
  cascadeUserGrants,
} from "./user-grant/cascade.ts";

/** Leaves a project that goes no more user grants than the unit may hold that removes it. */
export const removeMostGrantsOfProject = (
  deps: Pick<Deps, "db" | "events">,
  at: WriteContext,
  projectId: string,
): Promise<void> => cascadeMostUserGrants(deps, at, { projectId });

/** Removes the roles, project grants and user grants of a project in the unit in which that goes. */
export async function removeGrantsOfProject(
  db: Database,
  tx: Transaction,
  instanceId: string,
  projectId: string,
): Promise<void> {
  const inProject = { instanceId, projectId };
  for (const id of await allIds(db, tx, projectRoles, inProject)) {
    const loaded = await tx.load(role, id);
    tx.record(role, loaded, removeRole(loaded.state));
  }
  for (const id of await allIds(db, tx, projectGrants, inProject)) {
    await removeGrant(db, tx, instanceId, id);
  }
  await cascadeUserGrants(db, tx, instanceId, { projectId });
}

/**
 * Removes up to `limit` of the project grants that an organization was given, then of the user grants that it gave;
 * tells how many. What hangs on its own projects goes with these.
 */
export const removeContentsOfGrants =
  (deps: Deps) =>
  async (at: WriteContext, organizationId: string, limit: number): Promise<number> => {
    const given = { instanceId: at.instanceId, grantedOrganizationId: organizationId };
    const grants = await someIds(deps.db, projectGrants, given, limit);
    for (const id of grants) await deleteProjectGrant(deps, at, id);
    const left = limit - grants.length;
    if (left === 0) return limit;
    return grants.length + (await cascadeSomeUserGrants(deps, at, { organizationId }, left));
  };
