import { WebKeyService } from "#gen/idsvc/resources/webkey/v3alpha/web_key_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Deps, Module } from "../../projection/module.ts";
import type { instanceEvents, instances } from "../instance/index.ts";
import { webKeyEvents } from "./events.ts";
import { webKeyHandlers } from "./handlers.ts";
import { webKeyProjection } from "./projection.ts";
import { type Rotation, startRotation } from "./rotation.ts";

export { addFirstWebKey, newDefaultWebKey } from "./keys.ts";
export { type PublishedKey, type Signer, type WebKeyReader, webKeyReader } from "./reader.ts";
export { type RotationTimes, usualTimes } from "./rotation.ts";

/**
 * Web keys: what an instance signs its tokens with. They rotate by themselves.
 *
 * Instances stand above their keys: what of them counts here is handed in, and so are the times of the OIDC settings.
 */
export const webKeyModule = (above: {
  instanceEvents: typeof instanceEvents;
  instances: typeof instances;
  timesOf: (deps: Deps) => Rotation["timesOf"];
}): Module => ({
  events: [webKeyEvents],
  projections: [webKeyProjection(above.instanceEvents)],
  services: (deps) => [service(WebKeyService, webKeyHandlers(deps))],
  background: (deps, onError) => {
    const { instances: table, timesOf } = above;
    return startRotation(deps, { instances: table, timesOf: timesOf(deps) }, { onError });
  },
});
