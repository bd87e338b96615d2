import { randomToken, tokenPrefixes } from "../../../crypto/digests.ts";
import type { SecretStore } from "../../../eventstore/secret-store.ts";
import type { RowChange } from "../../../storage/row-change.ts";
import { secretsOfUsers, type UserRef } from "../user-ref.ts";

export const personalAccessTokenKind = "personal_access_token";

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
