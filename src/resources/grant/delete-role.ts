import { requireSequence } from "../../eventstore/expected-sequence.ts";
import { decideOn, type WriteContext } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { answering } from "../object/plain.ts";
import { byDecision, removal } from "../object/removal.ts";
import {
  loseGrantedRoles,
  projectGrantRoles,
  projectGrants,
} from "./project-grant/project-grant.ts";
import { roles } from "./role/role.ts";
import { roleLoss } from "./user-grant/cascade.ts";

/**
 * Deletes a role and takes it out of every project grant and user grant that has it, as one unit (specification 10.10).
 *
 * @throws NOT_FOUND ROLE_NOT_FOUND
 */
export async function deleteRole(deps: Pick<Deps, "db" | "events">, at: WriteContext, id: string) {
  const { state, last } = await deps.events.load(roles.aggregate, at.instanceId, id);
  const { projectId, key: roleKey } = roles.require(state);
  requireSequence(at, last?.sequence ?? 0n);
  const having = { projectId, roleKey };
  const ofProjectGrants = removal(
    deps,
    projectGrantRoles,
    byDecision(projectGrants.aggregate, (grant) => loseGrantedRoles(grant, [roleKey])),
    { idColumn: "projectGrantId" },
  );
  const ofUserGrants = roleLoss(deps, [roleKey]);
  await ofUserGrants.ahead(at, having);
  return answering(deps)(at, async (tx) => {
    const removed = await decideOn(tx, roles.aggregate, id, roles.remove);
    await ofProjectGrants.within(tx, having);
    await ofUserGrants.within(tx, having);
    return { written: tx.written(removed) };
  });
}
