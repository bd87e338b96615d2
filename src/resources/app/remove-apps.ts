import { credentialUses } from "../object/credential-uses.ts";
import { deleteRows } from "../../storage/row-change.ts";
import type { Reaction } from "../../eventstore/settle.ts";
import { decideOn, type Transaction } from "../../eventstore/transaction.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import { removal } from "../object/removal.ts";
import { removeApp } from "./app.ts";
import { app, apps } from "./application.ts";

type Parts = Pick<Deps, "db" | "events" | "secrets">;

/** Removes an app with its secret and keys. */
export async function removeWholeApp(
  { secrets }: Pick<Parts, "secrets">,
  tx: Transaction,
  id: string,
): Promise<void> {
  const { instanceId } = tx.at;
  await decideOn(tx, app, id, removeApp);
  tx.write(
    secrets.removeAllOf({ instanceId, ownerType: app.type, ownerId: id }),
    deleteRows(credentialUses, { instanceId, ownerId: id }),
  );
}

const appRemoval = (parts: Parts) =>
  removal(parts, apps, (tx, id) => removeWholeApp(parts, tx, id), { most: 500 });

/** Apps go with their project; one that is made meanwhile goes as well. */
export const appsGoWithProject = (parts: Parts): Reaction => {
  const { goWith, ahead } = appRemoval(parts);
  return {
    ...goWith({ "project.removed": (projectId) => ({ projectId }) }),
    ahead: (at, projectId) => ahead(at, { projectId }),
  };
};

/** Removes apps of an organization that goes. */
export const removeContentsOfApps = (parts: Parts): RemoveContents => appRemoval(parts).contents;
