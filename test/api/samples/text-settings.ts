import { TextSettingsService } from "#gen/idsvc/settings/text/v3alpha/text_settings_service_pb.ts";
import { ofService, type Sample } from "./sample.ts";

const unknown = (request: object) => ({
  request: { ...request, ctx: { org_id: "404" } },
  reason: "ORGANIZATION_NOT_FOUND",
});

export const textSettingsSamples: Record<string, Sample> = ofService(TextSettingsService.typeName, {
  SetTexts: {
    valid: (_, turn) => ({
      texts: [{ key: "password.title", language: "de", set: `Passwort ${turn}` }],
    }),
    invalid: {
      request: { texts: [{ key: "password.title", language: "de", set: "" }] },
      field: "texts[0].set",
    },
    unknown: unknown({ texts: [] }),
    writes: true,
  },
  ResolveTexts: {
    valid: () => ({ language: "de", key_prefix: "password" }),
    invalid: {
      request: { ctx: { org_id: "" } },
      field: "ctx.org_id",
      reason: "CONTEXT_INVALID",
    },
    unknown: unknown({}),
    writes: false,
  },
});
