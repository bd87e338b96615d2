import { type Awaitable, whenKnown } from "../../awaitable.ts";
import { onlySecretOf, type SecretStore } from "../../eventstore/secret-store.ts";
import { app } from "./application.ts";

const clientSecretKind = "client_secret";
export const clientSecretRef = onlySecretOf(app.type, clientSecretKind);

/** Whether this is the secret of the app: found by its keyed digest, so it takes the same time for every wrong one. */
export const isClientSecretOf = (
  secrets: SecretStore,
  { instanceId, appId }: { instanceId: string; appId: string },
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
