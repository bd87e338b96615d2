import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import { someIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { answering } from "../object/plain.ts";
import { projects, removeProject } from "./project.ts";
import { isServiceProject } from "./service-project.ts";

/**
 * Deletes a project and all that goes with it, as one unit. Where there is very much of it, most goes before, in units of its
 * own.
 *
 * @throws NOT_FOUND PROJECT_NOT_FOUND
 * @throws FAILED_PRECONDITION PROJECT_OF_SERVICE
 */
export async function deleteProject(deps: Pick<Deps, "events">, at: WriteContext, id: string) {
  const { events } = deps;
  const remove = async (tx: Transaction) => {
    const loaded = await tx.load(projects.aggregate, id);
    const isOfService = await isServiceProject(tx, at.instanceId, id);
    return { loaded, removed: removeProject(loaded.state, isOfService) };
  };
  // Refused before anything is taken away.
  await events.transact(at, async (tx) => tx.written((await remove(tx)).loaded));
  await events.prepare(at, "project.removed", id);
  return answering(deps)(at, async (tx) => {
    const { loaded, removed } = await remove(tx);
    tx.record(projects.aggregate, loaded, removed);
    return { written: tx.written(loaded) };
  });
}

/** Removes up to `limit` projects of an organization that goes; tells how many there were. */
export const removeContentsOfProjects =
  (deps: Deps) =>
  async (at: WriteContext, organizationId: string, limit: number): Promise<number> => {
    const ofOrganization = { instanceId: at.instanceId, organizationId };
    const ids = await someIds(deps.db, projects.table, ofOrganization, limit);
    for (const id of ids) await deleteProject(deps, at, id);
    return ids.length;
  };
