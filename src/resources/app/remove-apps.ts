import { credentialUses } from "../object/credential-uses.ts";
import { deleteRows } from "../../storage/row-change.ts";
import type { Reaction } from "../../eventstore/settle.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import { allIds, someIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { removeApp } from "./app.ts";
import { app, apps } from "./application.ts";

type Parts = Pick<Deps, "db" | "events" | "secrets">;

// One unit keeps other writers waiting while it commits.
const mostInOneUnit = 500;

/** Removes an app with its secret and keys. */
export async function removeWholeApp(
  { secrets }: Pick<Parts, "secrets">,
  tx: Transaction,
  instanceId: string,
  id: string,
): Promise<void> {
  const loaded = await tx.load(app, id);
  tx.record(app, loaded, removeApp(loaded.state));
  tx.write(
    secrets.removeAllOf({ instanceId, ownerType: app.type, ownerId: id }),
    deleteRows(credentialUses, { instanceId, ownerId: id }),
  );
}

/** Apps go with their project; one that is made meanwhile goes as well. */
export const appsGoWithProject = (parts: Parts): Reaction => ({
  to: ["project.removed"],
  async react(tx, happened) {
    const { instanceId } = tx.at;
    for (const { aggregateId: projectId } of happened) {
      const ids = await allIds(parts.db, tx, apps, { instanceId, projectId });
      for (const id of ids) await removeWholeApp(parts, tx, instanceId, id);
    }
  },
  async ahead(at, projectId) {
    const where = { instanceId: at.instanceId, projectId };
    for (;;) {
      const ids = await someIds(parts.db, apps, where, mostInOneUnit + 1);
      if (ids.length <= mostInOneUnit) return;
      await removeTogether(parts, at, ids);
    }
  },
});

/** Removes up to `limit` apps of an organization that goes; tells how many there were. */
export const removeContentsOfApps =
  (parts: Parts) =>
  async (at: WriteContext, organizationId: string, limit: number): Promise<number> => {
    const where = { instanceId: at.instanceId, organizationId };
    const ids = await someIds(parts.db, apps, where, Math.min(limit, mostInOneUnit));
    if (ids.length > 0) await removeTogether(parts, at, ids);
    return ids.length;
  };

function removeTogether(parts: Parts, at: WriteContext, ids: readonly string[]): Promise<void> {
  return parts.events.transact(at, async (tx) => {
    for (const id of ids) await removeWholeApp(parts, tx, at.instanceId, id);
  });
}
