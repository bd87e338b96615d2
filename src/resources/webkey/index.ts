import { WebKeyService } from "#gen/idsvc/resources/webkey/v3alpha/web_key_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Deps, Module } from "../../projection/module.ts";
import { webKeyEvents } from "./events.ts";
import { webKeyHandlers } from "./handlers.ts";
import { webKeyProjection } from "./projection.ts";
import { startRotation, type TimesOf } from "./rotation.ts";

export { addFirstWebKey, newDefaultWebKey, requireKeyOf } from "./keys.ts";
export { type PublishedKey, type Signer, type WebKeyReader, webKeyReader } from "./reader.ts";
export { type RotationTimes, usualTimes } from "./rotation.ts";

/**
 * Web keys: what an instance signs its tokens with. They rotate by themselves.
 * @param timesOf how, by the OIDC settings, which know of keys
 */
export const webKeyModule = (timesOf: (deps: Deps) => TimesOf): Module => ({
  events: [webKeyEvents],
  projections: [webKeyProjection],
  services: (deps) => [service(WebKeyService, webKeyHandlers(deps))],
  background: (deps, onError) => startRotation(deps, timesOf(deps), { onError }),
});
