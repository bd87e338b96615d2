import type { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Deps } from "../../projection/module.ts";
import { toChanges, toResolvedBool, toSettingsDetails } from "../object/convert.ts";
import { resolve, systemLog, systemOwner } from "../object/settings.ts";
import { type FeatureDefaults, type Feature, featureChain, featureSettings } from "./feature.ts";

const contextOf = ({ context, instanceId }: Scope): { log: string; owner: OwnerRef } =>
  context.type === "system"
    ? { log: systemLog, owner: systemOwner }
    : { log: instanceId, owner: { type: "instance", id: instanceId } };

export function featureHandlers(
  { db, events }: Deps,
  defaults: FeatureDefaults,
): Handlers<typeof FeatureService> {
  const chain = featureChain(db);
  const chainOf = ({ context, instanceId }: Scope) =>
    chain(context.type === "system" ? "system" : "instance", instanceId);

  return {
    async setFeatures({ settings }, scope) {
      const { log, owner } = contextOf(scope);
      const wished = toChanges({
        multitenancy_resources_api: settings?.multitenancyResourcesApi,
        multitenancy_settings: settings?.multitenancySettings,
        oidc_token_exchange: settings?.oidcTokenExchange,
      });
      const written = await events.transact(writeContext(scope, log), async (tx) => {
        const loaded = await tx.load(featureSettings.aggregate, log);
        const happened = featureSettings.decide(owner.type, loaded.state, wished);
        tx.record(featureSettings.aggregate, loaded, happened, owner);
        // Setting nothing where nothing was ever set succeeds, and there is no event to tell of.
        return loaded.last === undefined && happened.length === 0
          ? () => undefined
          : tx.written(loaded);
      });
      return { details: toSettingsDetails({ owner, last: written() }) };
    },

    async resolveFeatures(_, scope) {
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
