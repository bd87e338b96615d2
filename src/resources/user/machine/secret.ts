import { randomToken, tokenPrefixes } from "../../../crypto/digests.ts";
import type { SecretStore } from "../../../eventstore/secret-store.ts";
import type { RowChange } from "../../../storage/row-change.ts";
import { secretsOfUsers, type UserRef } from "../user-ref.ts";

export const machineSecretKind = "machine_secret";

export const machineSecretRef = secretsOfUsers(machineSecretKind);

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
