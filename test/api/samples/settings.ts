import type { JsonObject } from "@bufbuild/protobuf";
import { BrandingSettingsService } from "#gen/idsvc/settings/branding/v3alpha/branding_settings_service_pb.ts";
import { LanguageService } from "#gen/idsvc/settings/language/v3alpha/language_service_pb.ts";
import { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import { OIDCSettingsService } from "#gen/idsvc/settings/oidc/v3alpha/oidc_settings_service_pb.ts";
import { SecuritySettingsService } from "#gen/idsvc/settings/security/v3alpha/security_settings_service_pb.ts";
import { ofService, type Sample } from "./sample.ts";

type Unknown = { request: JsonObject; reason: string };

const unknownOrganization: Unknown = {
  request: { ctx: { org_id: "404" } },
  reason: "ORGANIZATION_NOT_FOUND",
};

/** Setting a group: one of the values each turn, and one that breaks a rule of its field. */
const setting = (
  unknown: Unknown,
  valid: (turn: number) => JsonObject,
  invalid: JsonObject,
): Sample => ({
  valid: (_, turn) => ({ settings: valid(turn) }),
  invalid: { request: { settings: invalid }, field: `settings.${Object.keys(invalid)[0]}` },
  unknown: { ...unknown, request: { ...unknown.request, settings: {} } },
  writes: true,
});

const resolving = (unknown: Unknown): Sample => ({
  valid: () => ({}),
  invalid: {
    request: { ctx: { org_id: "" } },
    field: "ctx.org_id",
    reason: "CONTEXT_INVALID",
  },
  unknown,
  writes: false,
});

export const settingsSamples: Record<string, Sample> = {
  ...ofService(BrandingSettingsService.typeName, {
    SetBrandingSettings: setting(
      unknownOrganization,
      (turn) => ({ theme: { set: turn % 2 === 0 ? "dark" : "light" } }),
      { primary_color: { set: "blue" } },
    ),
    ResolveBrandingSettings: resolving(unknownOrganization),
  }),
  ...ofService(LanguageService.typeName, {
    SetLanguages: setting(
      unknownOrganization,
      (turn) => ({ default_language: { key: turn % 2 === 0 ? "de" : "fr" } }),
      { reset_default_language: false },
    ),
    ResolveLanguages: { ...resolving(unknownOrganization), stranger: "answered" },
  }),
  ...ofService(LoginSettingsService.typeName, {
    SetLoginSettings: setting(
      unknownOrganization,
      (turn) => ({ hide_password_reset: { set: turn % 2 === 0 } }),
      { max_password_attempts: { set: "0" } },
    ),
    ResolveLoginSettings: resolving(unknownOrganization),
  }),
  ...ofService(OIDCSettingsService.typeName, {
    SetOIDCSettings: setting(
      unknownOrganization,
      (turn) => ({ id_token_lifetime: { set: `${turn + 60}s` } }),
      { id_token_lifetime: { set: "0s" } },
    ),
    ResolveOIDCSettings: resolving(unknownOrganization),
  }),
  ...ofService(SecuritySettingsService.typeName, {
    SetSecuritySettings: setting(
      unknownOrganization,
      (turn) => ({ enable_impersonation: { set: turn % 2 === 0 } }),
      { allowed_frame_origins: { set: { value: ["*"] } } },
    ),
    ResolveSecuritySettings: resolving(unknownOrganization),
  }),
};
