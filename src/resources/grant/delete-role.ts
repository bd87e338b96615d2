import { requireSequence } from "../../eventstore/expected-sequence.ts";
import type { WriteContext, Written } from "../../eventstore/transaction.ts";
import { allIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import {
  loseGrantedRoles,
  projectGrantRoles,
  projectGrants,
} from "./project-grant/project-grant.ts";
import { roles } from "./role/role.ts";
import { cascadeMostRoles, cascadeRoles } from "./user-grant/cascade.ts";

/**
 * Deletes a role and takes it out of every project grant and user grant that has it, as one unit (specification 10.10).
 *
 * @throws NOT_FOUND ROLE_NOT_FOUND
 */
export async function deleteRole(
  { db, events }: Pick<Deps, "db" | "events">,
  at: WriteContext,
  id: string,
): Promise<Written> {
  const { instanceId } = at;
  const { state: found, last } = await events.load(roles.aggregate, instanceId, id);
  if (found === undefined) throw roles.missing();
  requireSequence(at, last?.sequence ?? 0n);
  const { projectId, key: roleKey } = found;
  await cascadeMostRoles({ db, events }, at, { projectId }, [roleKey]);
  const written = await events.transact(at, async (tx) => {
    const loaded = await tx.load(roles.aggregate, id);
    tx.record(roles.aggregate, loaded, roles.remove(loaded.state));
    const having = { instanceId, projectId, roleKey };
    for (const grantId of await allIds(db, tx, projectGrantRoles, having, "projectGrantId")) {
      const grant = await tx.load(projectGrants.aggregate, grantId);
      tx.record(projectGrants.aggregate, grant, loseGrantedRoles(grant.state, [roleKey]));
    }
    await cascadeRoles(db, tx, instanceId, { projectId }, [roleKey]);
    return tx.written(loaded);
  });
  return written();
}
