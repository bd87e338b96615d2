import { randomToken, tokenPrefixes } from "../../crypto/digests.ts";
import type { SecretRef, SecretStore } from "../../eventstore/secret-store.ts";
import type { RowChange } from "../../storage/row-change.ts";

/** A new key for the signatures of calls, shown once; it is stored sealed, since calls must be signed with it. */
export async function newSigningKey(
  secrets: SecretStore,
  ref: SecretRef,
  now: Date,
): Promise<{ signingKey: string; change: RowChange }> {
  const signingKey = randomToken(tokenPrefixes.signingKey);
  return { signingKey, change: await secrets.put(ref, Buffer.from(signingKey), now) };
}
