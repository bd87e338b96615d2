import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { type FeatureDefaults, featureSettings } from "./feature.ts";
import { featureHandlers } from "./handlers.ts";

export { type FeatureDefaults, featureReader } from "./feature.ts";

/** Feature flags of the system and of instances (B6). */
export const featureModule = (defaults: FeatureDefaults): Module => ({
  events: [featureSettings.events],
  projections: [featureSettings.projection],
  services: (deps) => [service(FeatureService, featureHandlers(deps, defaults))],
});
