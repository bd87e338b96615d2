import type { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { CachedResponse } from "../../authz/response-cache.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { toChanges, toResolvedBool, toSettingsDetails } from "../object/convert.ts";
import { changeSettings, requireLevel } from "../object/contexts.ts";
import { resolve, settingContexts, settingValues } from "../object/settings.ts";
import { cachedRead, current } from "../../storage/read-cache.ts";
import { type FeatureDefaults, type Feature, featureChain, featureSettings } from "./feature.ts";

export function featureHandlers(
  deps: Deps,
  defaults: FeatureDefaults,
): Handlers<typeof FeatureService> {
  const chain = featureChain(deps.db);
  const answers = cachedRead(deps.db, [settingValues, settingContexts], async (_, instanceId) => {
    const contexts = await (instanceId === ""
      ? chain("system", "")
      : chain("instance", instanceId));
    const [own] = contexts;
    const flag = (feature: Feature) =>
      toResolvedBool(resolve(contexts, feature, defaults[feature]));
    return new CachedResponse({
      ...(own === undefined ? {} : { details: toSettingsDetails(own) }),
      settings: {
        multitenancyResourcesApi: flag("multitenancy_resources_api"),
        multitenancySettings: flag("multitenancy_settings"),
        oidcTokenExchange: flag("oidc_token_exchange"),
      },
    });
  });
  // Also what is not held here is made of cached reads, which may lag.
  const resolved = current(deps.db, answers);

  return {
    async setFeatures({ settings }, scope) {
      const wished = toChanges({
        multitenancy_resources_api: settings?.multitenancyResourcesApi,
        multitenancy_settings: settings?.multitenancySettings,
        oidc_token_exchange: settings?.oidcTokenExchange,
      });
      const changed = await changeSettings(deps, featureSettings, scope, wished);
      return { details: toSettingsDetails(changed) };
    },

    async resolveFeatures(_, scope) {
      requireLevel(featureSettings, scope);
      return resolved("", scope.context.type === "system" ? "" : scope.instanceId);
    },
  };
}
