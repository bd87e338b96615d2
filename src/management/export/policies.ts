import { SecondFactorType } from "#gen/idsvc/management/v1/data_pb.ts";
import { brandingSettings } from "../../settings/policy/branding.ts";
import { loginSettings, secondFactors } from "../../settings/policy/login.ts";
import { readSettings, type SettingValue, type SetValues } from "../../settings/object/settings.ts";
import { namesOf, textSettings } from "../../settings/policy/text.ts";
import type { Database } from "../../storage/database.ts";
import { factorTypeOf, type ManagedSettings, themeModeOf } from "../policy-names.ts";
import type { Part } from "./parts.ts";

/** What an organization has set itself; what it inherits is not its own. */
export function policiesOf(db: Database, groups: ManagedSettings) {
  return async (instanceId: string, organizationId: string): Promise<Part> => {
    const owner = { type: "org", id: organizationId } as const;
    const valuesOf = async (group: string) =>
      (await readSettings(db, group, instanceId, owner)).values;
    const passwords = groups.passwords === undefined ? {} : await valuesOf(groups.passwords.name);
    const login = await valuesOf(loginSettings.name);
    const password = given({
      minLength: number(passwords["min_length"]),
      hasUppercase: flag(passwords["requires_uppercase"]),
      hasLowercase: flag(passwords["requires_lowercase"]),
      hasNumber: flag(passwords["requires_number"]),
      hasSymbol: flag(passwords["requires_symbol"]),
    });
    const logins = given({
      allowUsernamePassword: flag(login["allow_username_password"]),
      allowRegister: flag(login["allow_register"]),
      allowExternalIdp: flag(login["allow_external_idp"]),
      forceMfa: flag(login["force_mfa"]),
      hidePasswordReset: flag(login["hide_password_reset"]),
      ignoreUnknownUsernames: flag(login["ignore_unknown_usernames"]),
      defaultRedirectUri: text(login["default_redirect_uri"]),
      passkeysAllowed: flag(login["passkeys_allowed"]),
    });
    const lockout = given({ maxPasswordAttempts: number(login["max_password_attempts"]) });
    const branding = await valuesOf(brandingSettings.name);
    const label = given({
      productName: text(branding["product_name"]),
      primaryColor: text(branding["primary_color"]),
      backgroundColor: text(branding["background_color"]),
      themeMode: themeModeOf(branding["theme"]),
    });
    return {
      ...(password && { passwordComplexityPolicy: password }),
      ...(logins && { loginPolicy: logins }),
      ...(lockout && { lockoutPolicy: lockout }),
      ...(label && { labelPolicy: label }),
      secondFactors: factorsOf(login["second_factors"]),
      loginTexts: textsOf(await valuesOf(textSettings.name)),
    };
  };
}

function factorsOf(own: SettingValue | undefined): { type: SecondFactorType }[] {
  if (!Array.isArray(own)) return [];
  if (own.length === 0) return [{ type: SecondFactorType.UNSPECIFIED }];
  return secondFactors
    .filter((factor) => own.includes(factor))
    .map((factor) => ({ type: factorTypeOf(factor) }));
}

/** By language, and within it by key. */
function textsOf(own: SetValues): { language: string; texts: Record<string, string> }[] {
  const byLanguage = new Map<string, Record<string, string>>();
  for (const property of Object.keys(own).toSorted()) {
    const [language, key] = namesOf(property);
    const texts = byLanguage.get(language) ?? {};
    texts[key] = String(own[property]);
    byLanguage.set(language, texts);
  }
  return [...byLanguage].map(([language, texts]) => ({ language, texts }));
}

const flag = (value: SettingValue | undefined) => (typeof value === "boolean" ? value : undefined);
const text = (value: SettingValue | undefined) => (typeof value === "string" ? value : undefined);
const number = (value: SettingValue | undefined) =>
  typeof value === "string" ? BigInt(value) : undefined;

/** What is set of it; undefined where nothing is. */
function given<T extends object>(all: T): { [K in keyof T]?: NonNullable<T[K]> } | undefined {
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  // The same members with the same values, without those that are not set.
  return set.length === 0
    ? undefined
    : (Object.fromEntries(set) as { [K in keyof T]?: NonNullable<T[K]> });
}
