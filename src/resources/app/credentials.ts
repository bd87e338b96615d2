import { type Awaitable, whenKnown } from "../../awaitable.ts";
import { randomToken, tokenPrefixes } from "../../crypto/digests.ts";
import { onlySecretOf, type SecretStore } from "../../eventstore/secret-store.ts";
import type { RowChange } from "../../storage/row-change.ts";
import { app } from "./application.ts";

const clientSecretKind = "client_secret";
type AppRef = { instanceId: string; appId: string };
const refOf = onlySecretOf(app.type, clientSecretKind);

/** A new client secret, shown once, and the row that recognises it in the place of the one before. */
export async function newClientSecret(
  secrets: SecretStore,
  { instanceId, appId }: AppRef,
  createdAt: Date,
): Promise<{ clientSecret: string; change: RowChange }> {
  const clientSecret = randomToken(tokenPrefixes.clientSecret);
  return {
    clientSecret,
    change: await secrets.putDigest(refOf(instanceId, appId), clientSecret, createdAt),
  };
}

export const removeClientSecret = (
  secrets: SecretStore,
  { instanceId, appId }: AppRef,
): RowChange => secrets.remove(refOf(instanceId, appId));

/** Whether this is the secret of the app: found by its keyed digest, so it takes the same time for every wrong one. */
export const isClientSecretOf = (
  secrets: SecretStore,
  { instanceId, appId }: AppRef,
  secret: string,
): Awaitable<boolean> =>
  whenKnown(
    secrets.find(instanceId, clientSecretKind, secret),
    (found) => found?.ownerType === app.type && found.ownerId === appId,
  );

/** What the file with a private key holds, for the app that uses it (specification 11.8). */
export const keyFile = (file: {
  keyId: string;
  privateKey: string;
  appId: string;
  clientId: string;
  expirationDate: string | undefined;
}) => ({
  type: "application",
  keyId: file.keyId,
  key: file.privateKey,
  appId: file.appId,
  clientId: file.clientId,
  ...(file.expirationDate === undefined ? {} : { expirationDate: file.expirationDate }),
});
