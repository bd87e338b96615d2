import type { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { toChanges, toResolvedBool, toSettingsDetails } from "../object/convert.ts";
import { changeSettings, requireLevel } from "../object/contexts.ts";
import { resolve } from "../object/settings.ts";
import { type FeatureDefaults, type Feature, featureChain, featureSettings } from "./feature.ts";

export function featureHandlers(
  { db, events }: Deps,
  defaults: FeatureDefaults,
): Handlers<typeof FeatureService> {
  const chain = featureChain(db);
  const chainOf = ({ context, instanceId }: Scope) =>
    chain(context.type === "system" ? "system" : "instance", instanceId);

  return {
    async setFeatures({ settings }, scope) {
      const wished = toChanges({
        multitenancy_resources_api: settings?.multitenancyResourcesApi,
        multitenancy_settings: settings?.multitenancySettings,
        oidc_token_exchange: settings?.oidcTokenExchange,
      });
      const changed = await changeSettings(events, featureSettings, scope, wished);
      return { details: toSettingsDetails(changed) };
    },

    async resolveFeatures(_, scope) {
      requireLevel(featureSettings, scope);
      await db.catchUp();
      const contexts = await chainOf(scope);
      const [own] = contexts;
      const resolved = (feature: Feature) =>
        toResolvedBool(resolve(contexts, feature, defaults[feature]));
      return {
        ...(own === undefined ? {} : { details: toSettingsDetails(own) }),
        settings: {
          multitenancyResourcesApi: resolved("multitenancy_resources_api"),
          multitenancySettings: resolved("multitenancy_settings"),
          oidcTokenExchange: resolved("oidc_token_exchange"),
        },
      };
    },
  };
}
