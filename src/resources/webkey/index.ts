import { WebKeyService } from "#gen/idsvc/resources/webkey/v3alpha/web_key_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { webKeyHandlers } from "./handlers.ts";
import { webKeys } from "./web-key.ts";
import { resourceModule } from "../object/module.ts";
import { startRotation, type TimesOf } from "./rotation.ts";

export { addFirstWebKey, newDefaultWebKey, requireKeyOf } from "./keys.ts";
export { type PublishedKey, type Signer, webKeyMissing, webKeyReader } from "./reader.ts";
export { type RotationTimes, usualTimes } from "./rotation.ts";

/**
 * Web keys: what an instance signs its tokens with. They rotate by themselves.
 * @param timesOf how, by the OIDC settings, which know of keys
 */
export const webKeyModule = (timesOf: (deps: Deps) => TimesOf) =>
  resourceModule([webKeys], {
    services: (deps) => [service(WebKeyService, webKeyHandlers(deps))],
    background: (deps, onError) => startRotation(deps, timesOf(deps), { onError }),
  });
