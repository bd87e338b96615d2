import { ConsentService } from "#gen/idsvc/resources/consent/v3alpha/consent_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import type { Reactions } from "../../projection/projection.ts";
import { consentEvents } from "./events.ts";
import {
  consentAuthorize,
  consentHandlers,
  type TokenUseReader,
  usersOfConsents,
} from "./handlers.ts";
import { consentProjection } from "./projection.ts";

export { consent } from "./consent.ts";
export { createConsents } from "./consents.ts";
export { consentEvents } from "./events.ts";
export { forgetApp, formerConsents, takeApiAccess } from "./projection.ts";

/**
 * Consents: what people let apps have (J4 to J6; L3).
 * @param tokenUse what stands on them
 * @param endings what ends them beside what is done to them and their users
 */
export const consentModule = (tokenUse: TokenUseReader, endings: Reactions): Module => ({
  events: [consentEvents],
  projections: [consentProjection(endings)],
  services: (deps) => [
    service(
      ConsentService,
      consentHandlers(deps, tokenUse),
      consentAuthorize(deps),
      usersOfConsents(deps),
    ),
  ],
});
