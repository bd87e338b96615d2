import type { SecretStore } from "../../eventstore/secret-store.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { allIds } from "../../projection/ids.ts";
import type { Database } from "../../storage/database.ts";
import { app, removeApp } from "./app.ts";
import { apps } from "./projection.ts";

/** Removes an app with its secret and keys. */
export async function removeWholeApp(
  secrets: SecretStore,
  tx: Transaction,
  instanceId: string,
  id: string,
): Promise<void> {
  const loaded = await tx.load(app, id);
  tx.record(app, loaded, removeApp(loaded.state));
  tx.write(secrets.removeAllOf({ instanceId, ownerType: app.type, ownerId: id }));
}

/** Removes the apps of a project in the unit in which that goes; one that is made meanwhile goes as well. */
export async function removeAppsOfProject(
  { db, secrets }: { db: Database; secrets: SecretStore },
  tx: Transaction,
  instanceId: string,
  projectId: string,
): Promise<void> {
  for (const id of await allIds(db, tx, apps, { instanceId, projectId })) {
    await removeWholeApp(secrets, tx, instanceId, id);
  }
}
