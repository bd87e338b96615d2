import type { Transaction, WriteContext, Written } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { removeMembershipsIn } from "../membership/index.ts";
import { projectGrant, removeProjectGrant } from "./project-grant/project-grant.ts";
import { cascadeMostUserGrants, cascadeUserGrants } from "./user-grant/cascade.ts";

/**
 * Deletes a project grant with its memberships and the user grants that stand on it, as one unit.
 *
 * @throws NOT_FOUND PROJECT_GRANT_NOT_FOUND
 */
export async function deleteProjectGrant(
  { db, events }: Pick<Deps, "db" | "events">,
  at: WriteContext,
  id: string,
): Promise<Written> {
  await cascadeMostUserGrants({ db, events }, at, { projectGrantId: id });
  const written = await events.transact(at, async (tx) => {
    const loaded = await tx.load(projectGrant, id);
    await removeGrant(db, tx, at.instanceId, id);
    await cascadeUserGrants(db, tx, at.instanceId, { projectGrantId: id });
    return tx.written(loaded);
  });
  return written();
}

/** The grant and its memberships. */
export async function removeGrant(
  db: Database,
  tx: Transaction,
  instanceId: string,
  id: string,
): Promise<void> {
  const loaded = await tx.load(projectGrant, id);
  tx.record(projectGrant, loaded, removeProjectGrant(loaded.state));
  await removeMembershipsIn(db, tx, { instanceId, contextType: "projectGrant", contextId: id });
}
