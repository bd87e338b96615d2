import { requireSequence } from "../../eventstore/expected-sequence.ts";
import type { WriteContext } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { answering } from "../object/plain.ts";
import { projectGrants } from "./project-grant/project-grant.ts";
import { keysOfProject, requireRolesOfProject } from "./role/queries.ts";
import { requireKeys, withoutKeys } from "./role/role.ts";
import { roleLoss } from "./user-grant/cascade.ts";

/**
 * Changes the roles of a project grant; what it loses, the user grants that stand on it lose in the same unit.
 *
 * @throws NOT_FOUND PROJECT_GRANT_NOT_FOUND
 * @throws INVALID_ARGUMENT ROLE_KEY_UNKNOWN
 */
export async function patchProjectGrant(
  deps: Pick<Deps, "db" | "events">,
  at: WriteContext,
  id: string,
  roleKeys: string[],
) {
  const { db, events } = deps;
  const { aggregate } = projectGrants;
  const { state, last } = await events.load(aggregate, at.instanceId, id);
  const found = projectGrants.require(state);
  requireSequence(at, last?.sequence ?? 0n);
  const known = await keysOfProject(db, at.instanceId, found.projectId, roleKeys);
  requireKeys(withoutKeys(roleKeys, found.roleKeys), known, field, "the project");
  const gone = withoutKeys(found.roleKeys, roleKeys);
  for (const roleKey of gone) {
    await roleLoss(deps, gone).ahead(at, { projectGrantId: id, roleKey });
  }
  return answering(deps)(at, async (tx) => {
    const loaded = await tx.load(aggregate, id);
    const before = loaded.state?.roleKeys ?? [];
    const changed = projectGrants.patch(loaded.state, { roleKeys });
    if (changed.length > 0 && loaded.state !== undefined) {
      const { projectId } = loaded.state;
      const given = withoutKeys(roleKeys, before);
      await requireRolesOfProject(db, tx, at.instanceId, projectId, given, field);
      const lost = withoutKeys(before, roleKeys);
      for (const roleKey of lost) {
        await roleLoss(deps, lost).within(tx, { projectGrantId: id, roleKey });
      }
    }
    tx.record(aggregate, loaded, changed);
    return { written: tx.written(loaded) };
  });
}

const field = "project_grant.role_keys";
