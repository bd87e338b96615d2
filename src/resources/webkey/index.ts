import { WebKeyService } from "#gen/idsvc/resources/webkey/v3alpha/web_key_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { webKeyHandlers } from "./handlers.ts";
import { addFirstWebKey, newDefaultWebKey } from "./keys.ts";
import { keysGoWithApps } from "./keys-of-apps.ts";
import { webKeys } from "./web-key.ts";
import { resourceModule } from "../object/module.ts";
import { startRotation, type TimesOf } from "./rotation.ts";

export { type PublishedKey, type Signer, webKeyReader } from "./reader.ts";
export { webKeysOf } from "./signing.ts";

/**
 * Web keys: what an instance signs its tokens with. They rotate by themselves.
 * @param timesOf how, by the OIDC settings, which know of keys
 * @param appsConfigured the types of events that say what tokens of an app are signed with
 */
export const webKeyModule = (timesOf: (deps: Deps) => TimesOf, appsConfigured: readonly string[]) =>
  resourceModule([webKeys], {
    // It takes a tenth of a second to make a key: it is made before the unit that adds it.
    async begins(parts) {
      const made = await newDefaultWebKey();
      return (tx, { id }) => addFirstWebKey(parts, tx, id, made);
    },
    reactions: (parts) => [keysGoWithApps(parts, appsConfigured)],
    services: (deps) => [service(WebKeyService, webKeyHandlers(deps))],
    background: (deps, onError) => startRotation(deps, timesOf(deps), { onError }),
  });
