import { randomToken, tokenPrefixes } from "../../crypto/digests.ts";
import { hashPassword } from "../../crypto/password-hash.ts";
import type { SecretRef, SecretStore } from "../../eventstore/secret-store.ts";
import type { RowChange } from "../../storage/row-change.ts";

export const personalAccessTokenKind = "personal_access_token";
const passwordKind = "password";

type UserRef = { instanceId: string; userId: string };

const ref = ({ instanceId, userId }: UserRef, kind: string, id: string): SecretRef => ({
  instanceId,
  ownerType: "user",
  ownerId: userId,
  kind,
  id,
});

/** The row that holds a user's password: an argon2id hash, peppered, sealed with the key of the instance. */
export async function passwordSecret(
  secrets: SecretStore,
  user: UserRef,
  password: string,
  createdAt: Date,
): Promise<RowChange> {
  const { id: keyId, key } = await secrets.pepper(user.instanceId);
  const hash = await hashPassword(password, { keyId, key });
  return secrets.put(ref(user, passwordKind, "1"), Buffer.from(JSON.stringify(hash)), createdAt);
}

/** A new personal access token, shown once, and the row that recognises it. */
export async function personalAccessTokenSecret(
  secrets: SecretStore,
  user: UserRef,
  token: { id: string; createdAt: Date; expiresAt?: Date; value?: string },
): Promise<{ token: string; change: RowChange }> {
  const value = token.value ?? randomToken(tokenPrefixes.personalAccessToken);
  const at = ref(user, personalAccessTokenKind, token.id);
  return {
    token: value,
    change: await secrets.putDigest(at, value, token.createdAt, token.expiresAt),
  };
}
