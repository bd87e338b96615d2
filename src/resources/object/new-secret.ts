import { randomToken, tokenPrefixes } from "../../crypto/digests.ts";
import type { SecretRef, SecretStore } from "../../eventstore/secret-store.ts";
import type { Transaction } from "../../eventstore/transaction.ts";

type Unit = Pick<Transaction, "now" | "write">;

/** A new key for the signatures of calls, shown once; the unit stores it sealed, since calls must be signed with it. */
export async function newSigningKey(
  tx: Unit,
  secrets: SecretStore,
  ref: SecretRef,
): Promise<{ signingKey: string }> {
  const signingKey = randomToken(tokenPrefixes.signingKey);
  tx.write(await secrets.put(ref, Buffer.from(signingKey), tx.now));
  return { signingKey };
}

/** A new client secret, shown once; the unit stores the digest that recognises it, in the place of the one before. */
export async function newClientSecret(
  tx: Unit,
  secrets: SecretStore,
  ref: SecretRef,
): Promise<{ clientSecret: string }> {
  const clientSecret = randomToken(tokenPrefixes.clientSecret);
  tx.write(await secrets.putDigest(ref, clientSecret, tx.now));
  return { clientSecret };
}
