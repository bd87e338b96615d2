import type { Transaction, WriteContext, Written } from "../../eventstore/transaction.ts";
import { someIds } from "../../projection/ids.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import { idp, removeIdp } from "./idp.ts";
import { removeIdpLinksLater } from "./links.ts";
import { idps } from "./projection.ts";

type Parts = Pick<Deps, "db" | "events" | "secrets" | "newId">;

/**
 * Removes a provider with its secret, and sees to it that the links of users to it go as well.
 *
 * @throws NOT_FOUND IDP_NOT_FOUND
 */
export const removeIdpWith =
  ({ secrets, newId }: Pick<Parts, "secrets" | "newId">) =>
  async (tx: Transaction, at: WriteContext, id: string): Promise<() => Written> => {
    const loaded = await tx.load(idp, id);
    tx.record(idp, loaded, removeIdp(loaded.state));
    tx.write(secrets.removeAllOf({ instanceId: at.instanceId, ownerType: idp.type, ownerId: id }));
    removeIdpLinksLater(tx, newId, at, id);
    return tx.written(loaded);
  };

/** Removes up to `limit` providers of an organization that goes; tells how many there were. */
export const removeContentsOfIdps =
  (parts: Parts): RemoveContents =>
  async (at, organizationId, limit) => {
    const where = { instanceId: at.instanceId, organizationId };
    const ids = await someIds(parts.db, idps, where, limit);
    if (ids.length === 0) return 0;
    const remove = removeIdpWith(parts);
    await parts.events.transact(at, async (tx) => {
      for (const id of ids) {
        const { state } = await tx.load(idp, id);
        if (state !== undefined) await remove(tx, at, id);
      }
    });
    return ids.length;
  };
