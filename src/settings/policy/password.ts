import type { PasswordPolicy } from "../../authz/policies.ts";
import type { ValueOf } from "../object/contexts.ts";
import { millisecondsOf } from "../object/convert.ts";
import type { SettingValue } from "../object/settings.ts";

/** What counts where no context sets a property (specification 10.13). */
export const builtInPasswords = {
  min_length: "8",
  requires_uppercase: false,
  requires_lowercase: false,
  requires_number: false,
  requires_symbol: false,
  blocklist: true,
  max_age: "0s",
  screen_passwords: false,
  screen_passwords_at_login: false,
} as const satisfies Record<string, SettingValue>;

/** What a new instance begins with (J16): more is demanded where others can reach it. */
export const firstPasswords = (isLocal: boolean) => ({ min_length: isLocal ? "8" : "12" });

export const passwordPolicyOf = (
  value: ValueOf<keyof typeof builtInPasswords>,
): PasswordPolicy => ({
  minLength: Number(value("min_length")),
  requiresUppercase: value("requires_uppercase") === true,
  requiresLowercase: value("requires_lowercase") === true,
  requiresNumber: value("requires_number") === true,
  requiresSymbol: value("requires_symbol") === true,
  blocklist: value("blocklist") === true,
  maxAgeMs: millisecondsOf(value("max_age")),
  screenPasswords: value("screen_passwords") === true,
  screenAtLogin: value("screen_passwords_at_login") === true,
});

/** What passwords of a new instance must be like from its first moment. */
export function firstPasswordPolicy(isLocal: boolean): PasswordPolicy {
  const values = { ...builtInPasswords, ...firstPasswords(isLocal) };
  return passwordPolicyOf((property) => values[property]);
}
