import { credentialUses } from "../object/credential-uses.ts";
import { deleteRows } from "../../storage/row-change.ts";
import type { WriteContext, Written } from "../../eventstore/transaction.ts";
import { someIds } from "../../projection/ids.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import { forgetRefusalsOf } from "../event/index.ts";
import { cascadeUserGrants } from "../grant/index.ts";
import { removeMembershipsOf } from "../membership/index.ts";
import { createCredentials, type Credentials } from "./credentials.ts";
import { users } from "./projection.ts";
import { removeUser, user } from "./user.ts";

/**
 * Deletes a user with everything that is his, as one unit: memberships, user grants, codes, challenges, counts of wrong
 * attempts, and all his secrets. His personal key is among them, so what the log holds of him can never be read again
 * (C7).
 */
export async function removeWholeUser(
  { deps, codes, attempts, challenges }: Credentials,
  at: WriteContext,
  userId: string,
): Promise<Written> {
  const { db, events, secrets } = deps;
  const { instanceId } = at;
  const written = await events.transact(at, async (tx) => {
    const loaded = await tx.load(user, userId);
    tx.record(user, loaded, removeUser(loaded.state));
    await removeMembershipsOf(db, tx, { instanceId, userId });
    await cascadeUserGrants(db, tx, instanceId, { userId });
    tx.write(
      codes.removeAll({ instanceId, userId }),
      challenges.removeAll({ instanceId, userId }),
      ...attempts.removeAll({ instanceId, userId }),
      secrets.removeAllOf({ instanceId, ownerType: user.type, ownerId: userId }),
      ...forgetRefusalsOf(instanceId, userId),
      deleteRows(credentialUses, { instanceId, ownerId: userId }),
    );
    return tx.written(loaded);
  });
  return written();
}

/** Removes up to `limit` users of an organization that goes; tells how many there were. */
export function removeContentsOfUsers(deps: Deps): RemoveContents {
  const credentials = createCredentials(deps);
  return async (at, organizationId, limit) => {
    const ofOrganization = { instanceId: at.instanceId, organizationId };
    const ids = await someIds(deps.db, users, ofOrganization, limit);
    for (const id of ids) await removeWholeUser(credentials, at, id);
    return ids.length;
  };
}
