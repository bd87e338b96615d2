import type { Transaction, WriteContext, Written } from "../../eventstore/transaction.ts";
import { someIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { removeAppsOfProject, removeMostAppsOfProject } from "../app/index.ts";
import { removeGrantsOfProject, removeMostGrantsOfProject } from "../grant/index.ts";
import { instance } from "../instance/index.ts";
import { removeMembershipsIn } from "../membership/index.ts";
import { project, removeProject } from "./project.ts";
import { projects } from "./projection.ts";

/**
 * Deletes a project with its apps, roles, grants and memberships, as one unit. Of very many apps or user
 * grants, most go before it, in units of their own.
 *
 * @throws NOT_FOUND PROJECT_NOT_FOUND
 * @throws FAILED_PRECONDITION PROJECT_OF_SERVICE
 */
export async function deleteProject(deps: Deps, at: WriteContext, id: string): Promise<Written> {
  const { db, events } = deps;
  const { instanceId } = at;
  const remove = async (tx: Transaction) => {
    const loaded = await tx.load(project, id);
    const isOfService = await isServiceProject(tx, instanceId, id);
    return { loaded, removed: removeProject(loaded.state, isOfService) };
  };
  // Refused before anything is taken away.
  await events.transact(at, remove);
  await removeMostGrantsOfProject(deps, at, id);
  await removeMostAppsOfProject(deps, at, id);
  const written = await events.transact(at, async (tx) => {
    const { loaded, removed } = await remove(tx);
    tx.record(project, loaded, removed);
    await removeAppsOfProject(deps, tx, instanceId, id);
    await removeGrantsOfProject(db, tx, instanceId, id);
    await removeMembershipsIn(db, tx, { instanceId, contextType: "project", contextId: id });
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
    const ofOrganization = { instanceId: at.instanceId, organizationId };
    const ids = await someIds(deps.db, projects, ofOrganization, limit);
    for (const id of ids) await deleteProject(deps, at, id);
    return ids.length;
  };
