import { Floor } from "#gen/idsvc/options/v1/options_pb.ts";
import type { Database } from "../../storage/database.ts";
import { type SettingsReader, settingsReader } from "../object/contexts.ts";
import { millisecondsOf, textsOf } from "../object/convert.ts";
import type { OrganizationRules } from "../object/floors.ts";
import { defineSettings, type SettingValue } from "../object/settings.ts";

/** In the order in which a login offers them. */
export const secondFactors = ["totp", "otp_sms", "otp_email", "u2f", "recovery_code"] as const;
export type SecondFactor = (typeof secondFactors)[number];

/** The ways to begin a log-in that have no setting of their own. */
export const firstFactors = ["email"] as const;
export type FirstFactor = (typeof firstFactors)[number];

/** What counts where no context sets a property (specification 10.13). */
export const builtInLogin = {
  allow_username_password: true,
  allow_register: true,
  allow_external_idp: true,
  force_mfa: false,
  force_mfa_administrators: false,
  passkeys_allowed: true,
  hide_password_reset: false,
  ignore_unknown_usernames: true,
  validate_org_domains: false,
  password_check_lifetime: "864000s",
  mfa_check_lifetime: "43200s",
  session_lifetime: "86400s",
  max_password_attempts: "10",
  default_redirect_uri: "",
  second_factors: [...secondFactors],
  trusted_browser_lifetime: "0s",
  first_factors: [],
  prepare_passkeys: false,
} satisfies Record<string, SettingValue>;

/** What organizations may make of it; the options of the message that sets them say the same. */
const rules: OrganizationRules = {
  ofInstance: ["validate_org_domains", "force_mfa_administrators"],
  floors: {
    force_mfa: Floor.TRUE_WINS,
    passkeys_allowed: Floor.FALSE_WINS,
    password_check_lifetime: Floor.AT_MOST,
    mfa_check_lifetime: Floor.AT_MOST,
    session_lifetime: Floor.AT_MOST,
    max_password_attempts: Floor.AT_MOST,
    second_factors: Floor.SUBSET,
    trusted_browser_lifetime: Floor.NO_LONGER,
    first_factors: Floor.SUBSET,
    prepare_passkeys: Floor.FALSE_WINS,
  },
  demanded: {},
};

/** How people log in, set for an instance or for an organization. */
export const loginSettings = defineSettings(
  "login",
  ["instance", "org"],
  Object.keys(builtInLogin),
  rules,
  ["validate_org_domains"],
);

/** What a new instance begins with (J16): more is demanded where others can reach it. */
export const firstLogin = (isLocal: boolean) => ({
  force_mfa_administrators: !isLocal,
  validate_org_domains: !isLocal,
});

/** How people of an organization log in. */
export type LoginPolicy = {
  allowUsernamePassword: boolean;
  allowRegister: boolean;
  allowExternalIdp: boolean;
  forceMfa: boolean;
  /** Of everybody who holds a role in the instance. */
  forceMfaAdministrators: boolean;
  passkeysAllowed: boolean;
  hidePasswordReset: boolean;
  /** An unknown login name is answered like a known one. */
  ignoreUnknownUsernames: boolean;
  /** A domain counts only once it is proven. */
  validateOrgDomains: boolean;
  /** How long a password, and a second factor, counts since it was checked. */
  passwordCheckLifetimeMs: number;
  mfaCheckLifetimeMs: number;
  sessionLifetimeMs: number;
  /** From this number of wrong passwords in a row on nothing is judged for a while. */
  maxPasswordAttempts: number;
  /** http or https; empty where there is none. */
  defaultRedirectUri: string;
  secondFactors: readonly SecondFactor[];
  /** How long a browser that its user trusts spares the second factor; 0: no browser does. */
  trustedBrowserLifetimeMs: number;
  /** How a log-in may begin beside passwords, passkeys and providers. */
  firstFactors: readonly FirstFactor[];
  /** Browsers may make a passkey by themselves after a log-in by password. */
  preparePasskeys: boolean;
};

export type LoginPolicyReader = SettingsReader<LoginPolicy>;

/** How people log in: to an organization, or to the instance where none is known. */
export const loginSettingsReader = (db: Database): LoginPolicyReader =>
  settingsReader(db, loginSettings, builtInLogin, (value): LoginPolicy => {
    const chosen = textsOf(value("second_factors"));
    const first = textsOf(value("first_factors"));
    return {
      allowUsernamePassword: value("allow_username_password") === true,
      allowRegister: value("allow_register") === true,
      allowExternalIdp: value("allow_external_idp") === true,
      forceMfa: value("force_mfa") === true,
      forceMfaAdministrators: value("force_mfa_administrators") === true,
      passkeysAllowed: value("passkeys_allowed") === true,
      hidePasswordReset: value("hide_password_reset") === true,
      ignoreUnknownUsernames: value("ignore_unknown_usernames") === true,
      validateOrgDomains: value("validate_org_domains") === true,
      passwordCheckLifetimeMs: millisecondsOf(value("password_check_lifetime")),
      mfaCheckLifetimeMs: millisecondsOf(value("mfa_check_lifetime")),
      sessionLifetimeMs: millisecondsOf(value("session_lifetime")),
      maxPasswordAttempts: Number(value("max_password_attempts")),
      defaultRedirectUri: String(value("default_redirect_uri")),
      secondFactors: secondFactors.filter((factor) => chosen.includes(factor)),
      trustedBrowserLifetimeMs: millisecondsOf(value("trusted_browser_lifetime")),
      firstFactors: firstFactors.filter((factor) => first.includes(factor)),
      preparePasskeys: value("prepare_passkeys") === true && value("passkeys_allowed") === true,
    };
  });
