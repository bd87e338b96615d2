import type { Awaitable } from "../awaitable.ts";
import type { SecretStore } from "../eventstore/secret-store.ts";

/** What the console is called as a client. No app, user or machine can have the id (J7). */
export const consoleClientId = "idsvc:console";

/** Where the log-in of the console ends, below the address that the instance is called at. */
export const consoleCallback = "/ui/console/callback";

/** What the service proves itself with as that client; it follows from the keys of the instance. */
export const consoleSecret = (
  secrets: Pick<SecretStore, "digest">,
  instanceId: string,
): Awaitable<string> => secrets.digest(instanceId, "console:client");
