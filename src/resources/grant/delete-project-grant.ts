import { requireSequence } from "../../eventstore/expected-sequence.ts";
import type { WriteContext, Written } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { projectGrants } from "./project-grant/project-grant.ts";
import { cascadeMostUserGrants, cascadeUserGrants } from "./user-grant/cascade.ts";

/**
 * Deletes a project grant with the user grants that stand on it, and all that goes with it, as one unit.
 *
 * @throws NOT_FOUND PROJECT_GRANT_NOT_FOUND
 */
export async function deleteProjectGrant(
  { db, events }: Pick<Deps, "db" | "events">,
  at: WriteContext,
  id: string,
): Promise<Written> {
  const { state, last } = await events.load(projectGrants.aggregate, at.instanceId, id);
  projectGrants.require(state);
  requireSequence(at, last?.sequence ?? 0n);
  await cascadeMostUserGrants({ db, events }, at, { projectGrantId: id });
  const written = await events.transact(at, async (tx) => {
    const loaded = await tx.load(projectGrants.aggregate, id);
    tx.record(projectGrants.aggregate, loaded, projectGrants.remove(loaded.state));
    await cascadeUserGrants(db, tx, at.instanceId, { projectGrantId: id });
    return tx.written(loaded);
  });
  return written();
}
