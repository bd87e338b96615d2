import type { Transaction, WriteContext, Written } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { instance } from "../instance/index.ts";
import { project, removeProject } from "./project.ts";
import { projectsOfOrganization } from "./queries.ts";

/**
 * Deletes a project with everything in it, as one unit.
 *
 * @throws NOT_FOUND PROJECT_NOT_FOUND
 * @throws FAILED_PRECONDITION PROJECT_OF_SERVICE
 */
export async function deleteProject(
  { events }: Deps,
  at: WriteContext,
  id: string,
): Promise<Written> {
  const written = await events.transact(at, async (tx) => {
    const loaded = await tx.load(project, id);
    const isOfService = await isServiceProject(tx, at.instanceId, id);
    tx.record(project, loaded, removeProject(loaded.state, isOfService));
    return tx.written(loaded);
  });
  return written();
}

/** Whether the tokens for the API of the service itself are made for this project. */
export async function isServiceProject(
  tx: Transaction,
  instanceId: string,
  id: string,
): Promise<boolean> {
  const { state } = await tx.load(instance, instanceId);
  return state?.projectId === id;
}

/** Removes up to `limit` projects of an organization that goes; tells how many there were. */
export const removeContentsOfProjects =
  (deps: Deps) =>
  async (at: WriteContext, organizationId: string, limit: number): Promise<number> => {
    const ids = await projectsOfOrganization(deps.db, at.instanceId, organizationId, limit);
    for (const id of ids) await deleteProject(deps, at, id);
    return ids.length;
  };
