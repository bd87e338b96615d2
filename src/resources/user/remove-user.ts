import type { UserDeps } from "./ports.ts";
import { credentialUses } from "../object/credential-uses.ts";
import { deleteRows } from "../../storage/row-change.ts";
import type { WriteContext, Written } from "../../eventstore/transaction.ts";
import { someIds } from "../../projection/ids.ts";
import type { RemoveContents } from "../../projection/module.ts";
import { createCredentials, type Credentials } from "./credentials.ts";
import { users } from "./projection.ts";
import { removeUser, user } from "./user.ts";

/**
 * Deletes a user with everything of theirs, as one unit: codes, challenges, counts of wrong attempts, all their secrets, and
 * what goes with users in other slices. Their personal key is among the secrets, so what the log holds of them can never be
 * read again (C7).
 */
export async function removeWholeUser(
  { deps, codes, attempts, challenges }: Credentials,
  at: WriteContext,
  userId: string,
): Promise<Written> {
  const { events, secrets } = deps;
  const { instanceId } = at;
  const written = await events.transact(at, async (tx) => {
    const loaded = await tx.load(user, userId);
    tx.record(user, loaded, removeUser(loaded.state));
    tx.write(
      codes.removeAll({ instanceId, userId }),
      challenges.removeAll({ instanceId, userId }),
      ...attempts.removeAll({ instanceId, userId }),
      secrets.removeAllOf({ instanceId, ownerType: user.type, ownerId: userId }),
      deleteRows(credentialUses, { instanceId, ownerId: userId }),
    );
    return tx.written(loaded);
  });
  return written();
}

/** Removes up to `limit` users of an organization that goes; tells how many there were. */
export function removeContentsOfUsers(deps: UserDeps): RemoveContents {
  const credentials = createCredentials(deps);
  return async (at, organizationId, limit) => {
    const ofOrganization = { instanceId: at.instanceId, organizationId };
    const ids = await someIds(deps.db, users, ofOrganization, limit);
    for (const id of ids) await removeWholeUser(credentials, at, id);
    return ids.length;
  };
}
