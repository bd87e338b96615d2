import { SetPasswordSettingsSchema } from "#gen/idsvc/settings/password/v3alpha/password_pb.ts";
import type { Awaitable } from "../../awaitable.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { setFirst, settingsReader, type ValueOf } from "../object/contexts.ts";
import { millisecondsOf } from "../object/convert.ts";
import { organizationRules } from "../object/floors.ts";
import { defineSettings, type SettingValue } from "../object/settings.ts";

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

/** What passwords must be like, set for an instance or for an organization. */
export const passwordSettings = defineSettings(
  "password",
  ["instance", "org"],
  Object.keys(builtInPasswords),
  organizationRules(SetPasswordSettingsSchema, builtInPasswords),
);

/** What a new instance begins with (J16): more is demanded where others can reach it. */
const firstPasswords = (isLocal: boolean) => ({ min_length: isLocal ? "8" : "12" });

/** Sets what a new instance begins with, in the unit that makes it. */
export const setFirstPasswords = (tx: Transaction, instanceId: string, isLocal: boolean): void =>
  setFirst(tx, passwordSettings, instanceId, firstPasswords(isLocal));

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
  /** Passwords that are known from breaches are refused. */
  screenPasswords: boolean;
  /** Whose password has become known must choose another one. */
  screenAtLogin: boolean;
};

export type PasswordPolicyReader = (
  instanceId: string,
  organizationId?: string,
) => Awaitable<PasswordPolicy>;

const policyOf = (value: ValueOf<keyof typeof builtInPasswords>): PasswordPolicy => ({
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

export const passwordPolicyReader = (db: Database): PasswordPolicyReader =>
  settingsReader(db, passwordSettings, builtInPasswords, policyOf);

/** What passwords of a new instance must be like from its first moment. */
export function firstPasswordPolicy(isLocal: boolean): PasswordPolicy {
  const values = { ...builtInPasswords, ...firstPasswords(isLocal) };
  return policyOf((property) => values[property]);
}
