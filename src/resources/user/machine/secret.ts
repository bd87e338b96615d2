import { randomToken, tokenPrefixes } from "../../../crypto/digests.ts";
import type { SecretRef, SecretStore } from "../../../eventstore/secret-store.ts";
import type { RowChange } from "../../../storage/row-change.ts";
import { onlyOne } from "../authenticator/authenticators.ts";

type UserRef = { instanceId: string; userId: string };

export const machineSecretKind = "machine_secret";

export const machineSecretRef = ({ instanceId, userId }: UserRef): SecretRef => ({
  instanceId,
  ownerType: "user",
  ownerId: userId,
  kind: machineSecretKind,
  id: onlyOne,
});

/** A new client secret of a machine user, shown once, and the row that recognises it, in the place of the one before. */
export async function newMachineSecret(
  secrets: SecretStore,
  user: UserRef,
  createdAt: Date,
): Promise<{ clientSecret: string; change: RowChange }> {
  const clientSecret = randomToken(tokenPrefixes.clientSecret);
  const change = await secrets.putDigest(machineSecretRef(user), clientSecret, createdAt);
  return { clientSecret, change };
}
