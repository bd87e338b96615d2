import { whenKnown } from "../../../awaitable.ts";
import type { TokenVerifier } from "../../../authz/ports.ts";
import { randomToken, tokenPrefixes } from "../../../crypto/digests.ts";
import type { SecretStore } from "../../../eventstore/secret-store.ts";
import type { RowChange } from "../../../storage/row-change.ts";
import { activeUserReader } from "../active-user.ts";
import type { UserDeps } from "../ports.ts";
import { secretsOfUsers, type UserRef } from "../user-ref.ts";

const personalAccessTokenKind = "personal_access_token";

/** Where the digest of a personal access token is. */
export const personalAccessTokenRef = secretsOfUsers(personalAccessTokenKind);

/** A new personal access token, shown once, and the row that recognises it. */
export async function personalAccessTokenSecret(
  secrets: SecretStore,
  user: UserRef,
  token: { id: string; createdAt: Date; expiresAt?: Date | undefined; value?: string },
): Promise<{ token: string; change: RowChange }> {
  const value = token.value ?? randomToken(tokenPrefixes.personalAccessToken);
  const at = personalAccessTokenRef(user, token.id);
  return {
    token: value,
    change: await secrets.putDigest(at, value, token.createdAt, token.expiresAt),
  };
}

/**
 * Recognises personal access tokens (B5): until they are removed or expire, and only while the user and their
 * organization are active.
 */
export function personalAccessTokens(
  parts: Pick<UserDeps, "db" | "secrets" | "organizations" | "now" | "noteUse">,
): TokenVerifier {
  const { secrets, now, noteUse } = parts;
  const activeUser = activeUserReader(parts);
  return (token, { instanceId }) =>
    whenKnown(secrets.find(instanceId, personalAccessTokenKind, token), (found) => {
      if (found === undefined) return undefined;
      if (found.expiresAt !== null && found.expiresAt <= now()) return undefined;
      return whenKnown(activeUser(instanceId, found.ownerId), (user) => {
        if (user === undefined) return undefined;
        const { id: userId, organizationId } = user;
        noteUse({ instanceId, ownerId: userId, kind: "pat", id: found.id });
        return { kind: "user", userId, organizationId, tokenKind: personalAccessTokenKind };
      });
    });
}
