import { type Awaitable, whenKnown } from "../../../awaitable.ts";
import type { Deps } from "../../../projection/module.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import { type ActiveUser, activeUserReader } from "../active-user.ts";
import { userAuthenticators } from "../authenticator/projection.ts";
import { authenticatorReader } from "../authenticator/queries.ts";
import { secretsOfUsers } from "../user-ref.ts";

const machineSecretKind = "machine_secret";

export const machineSecretRef = secretsOfUsers(machineSecretKind);

/** Recognises machine users, for the token endpoint; only while they and their organizations are active. */
export type MachineCredentials = {
  /** The user whose client id and client secret these are. */
  byClientSecret(
    instanceId: string,
    clientId: string,
    clientSecret: string,
  ): Awaitable<ActiveUser | undefined>;
  /** The public key (SPKI in PEM form) with this `kid`, unless it has expired, and whose it is. */
  byKeyId(
    instanceId: string,
    keyId: string,
  ): Promise<(ActiveUser & { publicKey: string }) | undefined>;
};

export function machineCredentials(
  deps: Pick<Deps, "db" | "secrets" | "organizations" | "now">,
): MachineCredentials {
  const { db, secrets, now } = deps;
  const activeUser = activeUserReader(deps);
  const authenticators = authenticatorReader(db);
  const byLookup = (kind: "secret" | "key") =>
    cachedRead(db, [userAuthenticators], (instanceId, lookup) =>
      authenticators.byLookup(instanceId, kind, lookup),
    );
  const secretOf = byLookup("secret");
  const keyOf = byLookup("key");

  return {
    byClientSecret: (instanceId, clientId, clientSecret) =>
      whenKnown(secrets.find(instanceId, machineSecretKind, clientSecret), (found) =>
        found === undefined
          ? undefined
          : whenKnown(secretOf(instanceId, clientId), (client) =>
              client?.userId === found.ownerId ? activeUser(instanceId, found.ownerId) : undefined,
            ),
      ),

    async byKeyId(instanceId, keyId) {
      const key = await keyOf(instanceId, keyId);
      if (key === undefined || (key.expiresAt !== null && key.expiresAt <= now())) return undefined;
      const user = await activeUser(instanceId, key.userId);
      const { publicKey } = key.details;
      return user && typeof publicKey === "string" ? { ...user, publicKey } : undefined;
    },
  };
}
