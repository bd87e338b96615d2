import { loginSettings } from "../../settings/login/index.ts";
import { readSettings, type SettingValue } from "../../settings/object/settings.ts";
import { passwordSettings } from "../../settings/password/index.ts";
import type { Database } from "../../storage/database.ts";
import type { Part } from "./parts.ts";

/** What an organization has set itself; what it inherits is not its own. */
export function policiesOf(db: Database) {
  return async (instanceId: string, organizationId: string): Promise<Part> => {
    const owner = { type: "org", id: organizationId } as const;
    const valuesOf = async (group: string) =>
      (await readSettings(db, group, instanceId, owner)).values;
    const passwords = await valuesOf(passwordSettings.name);
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
    });
    const lockout = given({ maxPasswordAttempts: number(login["max_password_attempts"]) });
    return {
      ...(password && { passwordComplexityPolicy: password }),
      ...(logins && { loginPolicy: logins }),
      ...(lockout && { lockoutPolicy: lockout }),
    };
  };
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
