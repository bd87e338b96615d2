import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { ofService, type Sample } from "./sample.ts";

const unknownInstance = {
  request: { ctx: { instance_id: "404" } },
  reason: "INSTANCE_NOT_FOUND",
};

export const featureSamples: Record<string, Sample> = ofService(FeatureService.typeName, {
  SetFeatures: {
    valid: (_, turn) => ({ settings: { oidc_token_exchange: { set: turn % 2 === 0 } } }),
    invalid: {
      request: { settings: { oidc_token_exchange: {} } },
      field: "settings.oidc_token_exchange.value",
    },
    unknown: { ...unknownInstance, request: { ...unknownInstance.request, settings: {} } },
    writes: true,
  },
  ResolveFeatures: {
    valid: () => ({}),
    invalid: {
      request: { ctx: { system: false } },
      field: "ctx.system",
      reason: "CONTEXT_INVALID",
    },
    unknown: unknownInstance,
    writes: false,
  },
});
