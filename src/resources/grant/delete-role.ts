import type { WriteContext, Written } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { loseGrantedRoles, projectGrant } from "./project-grant/project-grant.ts";
import { projectGrantRoles } from "./project-grant/projection.ts";
import { grantsWithRole } from "./project-grant/queries.ts";
import { removeRole, role, roleNotFound } from "./role/role.ts";
import { cascadeMostUserGrants, cascadeUserGrants } from "./user-grant/cascade.ts";

/**
 * Deletes a role and takes it out of every project grant and user grant that has it, as one unit (resources, Grants).
 *
 * @throws NOT_FOUND ROLE_NOT_FOUND
 */
export async function deleteRole(
  { db, events }: Pick<Deps, "db" | "events">,
  at: WriteContext,
  id: string,
): Promise<Written> {
  const { instanceId } = at;
  const { state: found } = await events.load(role, instanceId, id);
  if (found === undefined) throw roleNotFound();
  const { projectId, key: roleKey } = found;
  const cause = { projectId, lost: [roleKey] };
  await cascadeMostUserGrants({ db, events }, at, cause);
  const written = await events.transact(at, async (tx) => {
    const loaded = await tx.load(role, id);
    tx.record(role, loaded, removeRole(loaded.state));
    const grants = await grantsWithRole(db, instanceId, projectId, roleKey);
    tx.expectRows(projectGrantRoles, { instanceId, projectId, roleKey }, grants.length);
    for (const grantId of grants) {
      const grant = await tx.load(projectGrant, grantId);
      tx.record(projectGrant, grant, loseGrantedRoles(grant.state, [roleKey]));
    }
    await cascadeUserGrants(db, tx, instanceId, cause);
    return tx.written(loaded);
  });
  return written();
}
