import { requireSequence } from "../../eventstore/expected-sequence.ts";
import { decideOn, type WriteContext } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { answering } from "../object/plain.ts";
import { projectGrants } from "./project-grant/project-grant.ts";
import { userGrantRemoval } from "./user-grant/cascade.ts";

/**
 * Deletes a project grant with the user grants that stand on it, and all that goes with it, as one unit.
 *
 * @throws NOT_FOUND PROJECT_GRANT_NOT_FOUND
 */
export async function deleteProjectGrant(
  deps: Pick<Deps, "db" | "events">,
  at: WriteContext,
  id: string,
) {
  const { aggregate } = projectGrants;
  const { state, last } = await deps.events.load(aggregate, at.instanceId, id);
  projectGrants.require(state);
  requireSequence(at, last?.sequence ?? 0n);
  const userGrants = userGrantRemoval(deps);
  await userGrants.ahead(at, { projectGrantId: id });
  return answering(deps)(at, async (tx) => {
    const removed = await decideOn(tx, aggregate, id, projectGrants.remove);
    await userGrants.within(tx, { projectGrantId: id });
    return { written: tx.written(removed) };
  });
}
