import { SecondFactorType, ThemeMode } from "#gen/idsvc/management/v1/data_pb.ts";
import { wordsOf } from "../resources/object/words.ts";
import type { Theme } from "../settings/policy/branding.ts";
import type { SettingsGroup } from "../settings/object/settings.ts";
import type { SecondFactor } from "../settings/policy/login.ts";

/** Groups of settings that imports set and exports tell of, where their slices are there. */
export type ManagedSettings = { passwords?: SettingsGroup };

const factors: Readonly<Record<SecondFactorType, SecondFactor | undefined>> = {
  [SecondFactorType.UNSPECIFIED]: undefined,
  [SecondFactorType.OTP]: "totp",
  [SecondFactorType.U2F]: "u2f",
  [SecondFactorType.OTP_EMAIL]: "otp_email",
  [SecondFactorType.OTP_SMS]: "otp_sms",
  [SecondFactorType.RECOVERY_CODES]: "recovery_code",
};

const themes = wordsOf(ThemeMode, "");

/** The second factor of the login settings; undefined for none. */
export const factorOf = (type: SecondFactorType): SecondFactor | undefined => factors[type];
export const factorTypeOf = (factor: SecondFactor): SecondFactorType => typesOfFactors[factor];

/** The theme of the branding settings; undefined where it is inherited. */
export const themeOf = (mode: ThemeMode): Theme | undefined => themes.word(mode) || undefined;
export const themeModeOf = (theme: unknown): ThemeMode | undefined =>
  typeof theme === "string" ? themes.member(theme) || undefined : undefined;

const typesOfFactors: Readonly<Record<SecondFactor, SecondFactorType>> = {
  totp: SecondFactorType.OTP,
  u2f: SecondFactorType.U2F,
  otp_email: SecondFactorType.OTP_EMAIL,
  otp_sms: SecondFactorType.OTP_SMS,
  recovery_code: SecondFactorType.RECOVERY_CODES,
};
