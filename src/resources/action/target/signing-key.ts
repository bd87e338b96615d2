import type { Awaitable } from "../../../awaitable.ts";
import { onlySecretOf, type SecretStore } from "../../../eventstore/secret-store.ts";
import type { Database } from "../../../storage/database.ts";
import { secrets as secretRows } from "../../../storage/kernel-tables.ts";
import { cachedRead } from "../../../storage/read-cache.ts";

const kind = "signing_key";

export const signingKeyRef = onlySecretOf("target", kind);

/** Reads the key that calls of a target are signed with; undefined once the target is gone. */
export function signingKeyReader(
  db: Database,
  secrets: SecretStore,
): (instanceId: string, targetId: string) => Awaitable<Uint8Array | undefined> {
  return cachedRead(db, [{ table: secretRows, part: kind }], (instanceId, targetId) =>
    secrets.open(signingKeyRef(instanceId, targetId)),
  );
}
