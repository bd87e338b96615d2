import { BrandingSettingsService } from "#gen/idsvc/settings/branding/v3alpha/branding_settings_service_pb.ts";
import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import { OIDCSettingsService } from "#gen/idsvc/settings/oidc/v3alpha/oidc_settings_service_pb.ts";
import { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
import { SecuritySettingsService } from "#gen/idsvc/settings/security/v3alpha/security_settings_service_pb.ts";
import type { Action, Field, Path, SettingsGroup, Shown } from "./declare.ts";
import { fieldAt } from "./schema.ts";

export const login: SettingsGroup = {
  set: LoginSettingsService.method.setLoginSettings,
  resolve: LoginSettingsService.method.resolveLoginSettings,
};
export const password: SettingsGroup = {
  set: PasswordSettingsService.method.setPasswordSettings,
  resolve: PasswordSettingsService.method.resolvePasswordSettings,
};
export const branding: SettingsGroup = {
  set: BrandingSettingsService.method.setBrandingSettings,
  resolve: BrandingSettingsService.method.resolveBrandingSettings,
};
export const oidc: SettingsGroup = {
  set: OIDCSettingsService.method.setOIDCSettings,
  resolve: OIDCSettingsService.method.resolveOIDCSettings,
};
export const security: SettingsGroup = {
  set: SecuritySettingsService.method.setSecuritySettings,
  resolve: SecuritySettingsService.method.resolveSecuritySettings,
};
export const features: SettingsGroup = {
  set: FeatureService.method.setFeatures,
  resolve: FeatureService.method.resolveFeatures,
};

/** A setting: what it is called, where its value stands, who set it, and how it is changed. */
export type Setting = { name: string; value: Shown; owner: Path; change: Action; reset: Action };

/** The settings of a group, which are declared alike in the schema. */
export function settingsOf({ set, resolve }: SettingsGroup): Setting[] {
  const fields = fieldAt(set.input, "settings")?.message?.fields ?? [];
  return fields.map(({ name, message }) => {
    const inside = message?.fields.find((field) => field.name === "set");
    // A list stands in a message of its own.
    const isList = inside?.message?.name === "StringList";
    const path = `settings.${name}.set${isList ? ".value" : ""}`;
    const word = `field_${name}`;
    const shown = fieldAt(resolve.output, `settings.${name}.value`);
    const value = shown === undefined ? "url" : "value";
    const field: Field = { path, word, initial: { of: `settings.${name}.${value}` } };
    return {
      name,
      value: { path: `settings.${name}.${value}`, word },
      owner: `settings.${name}.owner.type`,
      change: { word: "change", method: set, fields: [field] },
      reset: {
        ...{ word: "reset", method: set, isDangerous: true },
        given: { [`settings.${name}.reset`]: { is: true } },
      },
    };
  });
}
