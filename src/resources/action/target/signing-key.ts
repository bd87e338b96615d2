import { randomToken, tokenPrefixes } from "../../../crypto/digests.ts";
import type { SecretRef, SecretStore } from "../../../eventstore/secret-store.ts";
import type { RowChange } from "../../../storage/row-change.ts";

export const signingKeyRef = (instanceId: string, targetId: string): SecretRef => ({
  instanceId,
  ownerType: "target",
  ownerId: targetId,
  kind: "signing_key",
  id: "1",
});

/** A new key for the signatures of a target, shown once; it is stored sealed, since calls must be signed with it. */
export async function newSigningKey(
  secrets: SecretStore,
  instanceId: string,
  targetId: string,
  now: Date,
): Promise<{ signingKey: string; change: RowChange }> {
  const signingKey = randomToken(tokenPrefixes.signingKey);
  const ref = signingKeyRef(instanceId, targetId);
  return { signingKey, change: await secrets.put(ref, Buffer.from(signingKey), now) };
}
