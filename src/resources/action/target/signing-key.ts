import { randomToken, tokenPrefixes } from "../../../crypto/digests.ts";
import type { SecretRef, SecretStore } from "../../../eventstore/secret-store.ts";
import type { Database } from "../../../storage/database.ts";
import { secrets as secretRows } from "../../../storage/kernel-tables.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import type { RowChange } from "../../../storage/row-change.ts";

const kind = "signing_key";

export const signingKeyRef = (instanceId: string, targetId: string): SecretRef => ({
  instanceId,
  ownerType: "target",
  ownerId: targetId,
  kind,
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

/** Reads the key that calls of a target are signed with; undefined once the target is gone. */
export function signingKeyReader(
  db: Database,
  secrets: SecretStore,
): (
  instanceId: string,
  targetId: string,
) => Uint8Array | undefined | Promise<Uint8Array | undefined> {
  return cachedRead(db, [{ table: secretRows, part: kind }], (instanceId, targetId) =>
    secrets.open(signingKeyRef(instanceId, targetId)),
  );
}
