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
      // The passwords of all samples meet both.
      valid: (_, turn) => ({ settings: { min_length: { set: String(8 + (turn % 2)) } } }),
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
