import { DomainService } from "#gen/idsvc/resources/domain/v3alpha/domain_service_pb.ts";
import { BrandingSettingsService } from "#gen/idsvc/settings/branding/v3alpha/branding_settings_service_pb.ts";
import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { LanguageService } from "#gen/idsvc/settings/language/v3alpha/language_service_pb.ts";
import { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import { OIDCSettingsService } from "#gen/idsvc/settings/oidc/v3alpha/oidc_settings_service_pb.ts";
import { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
import { SecuritySettingsService } from "#gen/idsvc/settings/security/v3alpha/security_settings_service_pb.ts";
import {
  at,
  contextOf,
  type Field,
  type Listed,
  type Setting,
  type SettingsGroup,
  textAt,
} from "./declare.ts";
import { supportedLanguages } from "./languages.ts";
import { TextSettingsService } from "#gen/idsvc/settings/text/v3alpha/text_settings_service_pb.ts";
import { fieldAt, objectsAt } from "./schema.ts";

/**
 * Who set what counts in a context. What is set in the context itself names no owner; nobody sets anything above the instances: what
 * stands there is built in.
 */
export const setBy = (owner: string): string =>
  owner === "" ? "setHere" : owner === "OWNER_TYPE_SYSTEM" ? "builtIn" : owner;

export const login: SettingsGroup = {
  set: LoginSettingsService.method.setLoginSettings,
  resolve: LoginSettingsService.method.resolveLoginSettings,
  concernsPeople: true,
  ofInstance: ["validate_org_domains", "force_mfa_administrators"],
  values: {
    second_factors: {
      totp: "totp",
      otp_sms: "smsCodes",
      otp_email: "emailCodes",
      u2f: "securityKeys",
      recovery_code: "recoveryCodes",
    },
    first_factors: { email: "emailCodes" },
  },
  concerns: {
    validate_org_domains: {
      word: "concernsDomains",
      method: DomainService.method.searchDomains,
      request: {
        query: { limit: 1 },
        filters: [{ verified: { is_verified: true } }, { proven: { is_proven: false } }],
      },
      total: "details.total_result",
    },
  },
};
export const password: SettingsGroup = {
  set: PasswordSettingsService.method.setPasswordSettings,
  resolve: PasswordSettingsService.method.resolvePasswordSettings,
  concernsPeople: true,
};
export const branding: SettingsGroup = {
  set: BrandingSettingsService.method.setBrandingSettings,
  resolve: BrandingSettingsService.method.resolveBrandingSettings,
  values: { theme: { auto: "themeAuto", light: "themeLight", dark: "themeDark" } },
  preview: (request) =>
    Object.fromEntries(
      ["product_name", "primary_color", "background_color", "theme"].flatMap((name) => {
        const typed = at(request, `settings.${name}.set`);
        return typeof typed === "string" ? [[name, typed] as const] : [];
      }),
    ),
};
export const oidc: SettingsGroup = {
  set: OIDCSettingsService.method.setOIDCSettings,
  resolve: OIDCSettingsService.method.resolveOIDCSettings,
  ofInstance: ["key_rotation_period"],
};
export const security: SettingsGroup = {
  set: SecuritySettingsService.method.setSecuritySettings,
  resolve: SecuritySettingsService.method.resolveSecuritySettings,
  ofInstance: [
    "allowed_link_hosts",
    "related_origins",
    "security_contacts",
    "security_policy_url",
    "console_session_lifetime",
    "console_idle_expiration",
  ],
};
export const features: SettingsGroup = {
  set: FeatureService.method.setFeatures,
  resolve: FeatureService.method.resolveFeatures,
};

const setLanguages = LanguageService.method.setLanguages;
const offered = "settings.restricted_languages";

/** The languages of pages and messages: the default, and those that are offered. */
export const languages: SettingsGroup = {
  set: setLanguages,
  resolve: LanguageService.method.resolveLanguages,
  settings: [
    {
      name: "default_language",
      value: {
        path: "settings.default_language.value",
        word: "field_default_language",
        as: "language",
      },
      owner: "settings.default_language.owner.type",
      change: {
        word: "change",
        send: "save",
        method: setLanguages,
        fields: [
          {
            path: "settings.default_language.key",
            word: "field_default_language",
            choices: supportedLanguages,
            isRequired: true,
            as: "language",
            initial: { of: "settings.default_language.value" },
          },
        ],
      },
      reset: {
        word: "reset",
        about: "about_reset",
        method: setLanguages,
        isDangerous: true,
        given: { "settings.reset_default_language": { is: true } },
      },
    },
    {
      name: "restricted_languages",
      value: {
        path: `${offered}.value`,
        word: "field_restricted_languages",
        as: "language",
        empty: "all",
      },
      owner: `${offered}.owner.type`,
      change: {
        word: "change",
        send: "save",
        method: setLanguages,
        fields: [
          {
            path: `${offered}.languages`,
            word: "field_restricted_languages",
            choices: supportedLanguages,
            as: "language",
            each: "key",
            initial: { of: `${offered}.value` },
          },
        ],
      },
      reset: {
        word: "reset",
        about: "about_reset",
        method: setLanguages,
        isDangerous: true,
        given: { [offered]: { is: { languages: [] } } },
      },
    },
  ],
};

const setTexts = TextSettingsService.method.setTexts;
const textOfRow = { "texts.0.key": { of: "key" }, "texts.0.language": { of: "language" } } as const;

/** What people read on the pages of the log-in and in messages, key by key. */
export const texts: Listed = {
  isOfInstance: true,
  search: {
    method: TextSettingsService.method.resolveTexts,
    request: ({ org, language }) => ({ ...contextOf(org), language }),
  },
  isByLanguage: true,
  foundIn: ["key", "value"],
  columns: [
    { path: "key", as: "code" },
    { path: "value", word: "field_value" },
    { path: "owner.type", word: "setBy", says: (text) => setBy(textAt(text, "owner.type")) },
  ],
  actions: [
    {
      word: "change",
      send: "save",
      method: setTexts,
      given: textOfRow,
      fields: [
        {
          path: "texts.0.set",
          word: "field_value",
          as: "text",
          isRequired: true,
          initial: { of: "value" },
        },
      ],
      preview(request) {
        const [{ key, language, set } = {}] = objectsAt(request, "texts");
        return Object.fromEntries(
          Object.entries({ key, language, text: set }).filter(
            (each): each is [string, string] => typeof each[1] === "string",
          ),
        );
      },
    },
    {
      word: "reset",
      about: "about_reset",
      method: setTexts,
      isDangerous: true,
      given: { ...textOfRow, "texts.0.reset": { is: true } },
      when: (text) => textAt(text, "owner.type") === "",
    },
  ],
};

/** What spans of time are called that are zero, where that is no span. */
const zeros: Readonly<Record<string, string>> = {
  max_age: "notLimited",
  trusted_browser_lifetime: "never",
};

/** The settings of a group, which most are declared alike in the schema. */
export function settingsOf({
  set,
  resolve,
  settings,
  preview,
  concerns = {},
  values: valuesOf = {},
}: SettingsGroup): readonly Setting[] {
  if (settings !== undefined) return settings;
  const fields = fieldAt(set.input, "settings")?.message?.fields ?? [];
  return fields.map(({ name, message }) => {
    const inside = message?.fields.find((field) => field.name === "set");
    // A list stands in a message of its own.
    const isList = inside?.message?.name === "StringList";
    const path = `settings.${name}.set${isList ? ".value" : ""}`;
    const word = `field_${name}`;
    const shown = fieldAt(resolve.output, `settings.${name}.value`);
    const value = shown === undefined ? "url" : "value";
    const zero = zeros[name];
    const values = valuesOf[name] && { values: valuesOf[name] };
    const field: Field = { path, word, initial: { of: `settings.${name}.${value}` }, ...values };
    return {
      name,
      value: {
        path: `settings.${name}.${value}`,
        word,
        ...(isList && { as: "code" }),
        ...values,
        ...(zero !== undefined && { zero }),
      },
      owner: `settings.${name}.owner.type`,
      change: {
        word: "change",
        send: "save",
        method: set,
        fields: [field],
        ...(preview && { preview }),
        ...(concerns[name] && { concerns: concerns[name] }),
      },
      reset: {
        word: "reset",
        about: "about_reset",
        method: set,
        isDangerous: true,
        given: { [`settings.${name}.reset`]: { is: true } },
      },
    };
  });
}
