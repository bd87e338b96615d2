import { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
import { ofService, type Sample } from "./sample.ts";

const unknown = (request: object) => ({
  request: { ...request, ctx: { org_id: "404" } },
  reason: "ORGANIZATION_NOT_FOUND",
});

export const passwordSettingsSamples: Record<string, Sample> = ofService(
  PasswordSettingsService.typeName,
  {
    SetPasswordSettings: {
      valid: (_, turn) => ({ settings: { requires_symbol: { set: turn % 2 === 0 } } }),
      invalid: {
        request: { settings: { min_length: { set: "201" } } },
        field: "settings.min_length",
      },
      unknown: unknown({ settings: {} }),
      writes: true,
    },
    ResolvePasswordSettings: {
      valid: () => ({}),
      invalid: {
        request: { ctx: { org_id: "" } },
        field: "ctx.org_id",
        reason: "CONTEXT_INVALID",
      },
      unknown: unknown({}),
      writes: false,
    },
  },
);
