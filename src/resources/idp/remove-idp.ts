import { decideOn, type Transaction, type Written } from "../../eventstore/transaction.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import { removal } from "../object/removal.ts";
import { idp, removeIdp } from "./idp.ts";
import { idps } from "./projection.ts";

type Parts = Pick<Deps, "db" | "events" | "secrets">;

/**
 * Removes a provider with its secret. That the links of users to it go as well is a reaction of theirs.
 *
 * @throws NOT_FOUND IDP_NOT_FOUND
 */
export const removeIdpWith =
  ({ secrets }: Pick<Parts, "secrets">) =>
  async (tx: Transaction, id: string): Promise<() => Written> => {
    const removed = await decideOn(tx, idp, id, removeIdp);
    const { instanceId } = tx.at;
    tx.write(secrets.removeAllOf({ instanceId, ownerType: idp.type, ownerId: id }));
    return tx.written(removed);
  };

/** Removes providers of an organization that goes; one may be removed by somebody else meanwhile. */
export function removeContentsOfIdps(parts: Parts): RemoveContents {
  const remove = removeIdpWith(parts);
  return removal(parts, idps, async (tx, id) => {
    const { state } = await tx.load(idp, id);
    if (state !== undefined) await remove(tx, id);
  }).contents;
}
