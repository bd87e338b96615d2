import type { Awaitable } from "../../awaitable.ts";
import type { Database } from "../../storage/database.ts";
import { settingsReader } from "../object/contexts.ts";
import { millisecondsOf } from "../object/convert.ts";
import { defineSettings, type SettingValue } from "../object/settings.ts";

/** What counts where no context sets a property (resources, Settings services). */
export const builtInPasswords = {
  min_length: "8",
  requires_uppercase: false,
  requires_lowercase: false,
  requires_number: false,
  requires_symbol: false,
  blocklist: true,
  max_age: "0s",
} as const satisfies Record<string, SettingValue>;

/** What passwords must be like, set for an instance or for an organization. */
export const passwordSettings = defineSettings(
  "password",
  ["instance", "org"],
  Object.keys(builtInPasswords),
);

/** What passwords of an organization must be like. */
export type PasswordPolicy = {
  minLength: number;
  requiresUppercase: boolean;
  requiresLowercase: boolean;
  requiresNumber: boolean;
  requiresSymbol: boolean;
  /** Common passwords, and those made of what is known of the user, are refused. */
  blocklist: boolean;
  /** 0: a password never gets too old. */
  maxAgeMs: number;
};

export type PasswordPolicyReader = (
  instanceId: string,
  organizationId: string,
) => Awaitable<PasswordPolicy>;

export const passwordPolicyReader = (db: Database): PasswordPolicyReader =>
  settingsReader(
    db,
    passwordSettings,
    builtInPasswords,
    (value): PasswordPolicy => ({
      minLength: Number(value("min_length")),
      requiresUppercase: value("requires_uppercase") === true,
      requiresLowercase: value("requires_lowercase") === true,
      requiresNumber: value("requires_number") === true,
      requiresSymbol: value("requires_symbol") === true,
      blocklist: value("blocklist") === true,
      maxAgeMs: millisecondsOf(value("max_age")),
    }),
  );
