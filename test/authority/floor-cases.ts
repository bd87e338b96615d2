export type Group = "login" | "passwords" | "oidc" | "security";
/** What the instance sets, what an organization may not and what it may; each as it is read. */
type Case = {
  group: Group;
  demanded: Value;
  looser: Value[];
  asStrict: Value[];
  /** What the instance can set for an organization to have more; there what is built in demands too. */
  loosest?: Value;
};
export type Value = string | boolean | string[];

const isTrue = { demanded: true, looser: [false], asStrict: [true] };
const times: Omit<Case, "group"> = {
  demanded: "300s",
  looser: ["300.001s", "301s"],
  asStrict: ["300s", "1s"],
};
const [a, b, c] = ["https://a.example.com", "https://b.example.com", "https://c.example.com"];
/** By the name of a setting that organizations override. */
export const cases: Readonly<Record<string, Case>> = {
  access_token_lifetime: { group: "oidc", ...times },
  id_token_lifetime: { group: "oidc", ...times },
  refresh_token_idle_expiration: { group: "oidc", ...times },
  refresh_token_expiration: { group: "oidc", ...times },
  authorization_code_lifetime: { group: "oidc", ...times },
  enable_impersonation: {
    group: "security",
    demanded: false,
    looser: [true],
    asStrict: [false],
    loosest: true,
  },
  allowed_frame_origins: {
    group: "security",
    demanded: [a, b],
    loosest: [a, b, c],
    looser: [[c], [a, c]],
    asStrict: [[b, a], [a], []],
  },
  force_mfa: { group: "login", ...isTrue },
  passkeys_allowed: { group: "login", demanded: false, looser: [true], asStrict: [false] },
  prepare_passkeys: { group: "login", demanded: false, looser: [true], asStrict: [false] },
  password_check_lifetime: {
    group: "login",
    demanded: "9.500s",
    looser: ["9.501s", "10s", "31536000s"],
    asStrict: ["9.500s", "1s"],
  },
  mfa_check_lifetime: {
    group: "login",
    demanded: "600s",
    looser: ["601s"],
    asStrict: ["600s", "60s"],
  },
  session_lifetime: {
    group: "login",
    demanded: "7200s",
    looser: ["10000s"],
    asStrict: ["7200s", "900s"],
  },
  max_password_attempts: {
    group: "login",
    demanded: "9",
    looser: ["10", "100"],
    asStrict: ["9", "1"],
  },
  second_factors: {
    group: "login",
    demanded: ["totp", "u2f"],
    looser: [["totp", "otp_sms"], ["otp_email"], ["totp", "u2f", "recovery_code"]],
    asStrict: [["u2f", "totp"], ["totp"], []],
  },
  first_factors: { group: "login", demanded: [], looser: [["email"]], asStrict: [[]] },
  trusted_browser_lifetime: {
    // 0 stands for never, which is as strict as can be.
    group: "login",
    demanded: "7200s",
    looser: ["7201s", "2592000s"],
    asStrict: ["7200s", "60s", "0s"],
  },
  min_length: { group: "passwords", demanded: "10", looser: ["9", "1"], asStrict: ["10", "100"] },
  requires_uppercase: { group: "passwords", ...isTrue },
  requires_lowercase: { group: "passwords", ...isTrue },
  requires_number: { group: "passwords", ...isTrue },
  requires_symbol: { group: "passwords", ...isTrue },
  blocklist: { group: "passwords", ...isTrue },
  screen_passwords: { group: "passwords", ...isTrue },
  screen_passwords_at_login: { group: "passwords", ...isTrue },
  max_age: {
    // 0 stands for never.
    group: "passwords",
    demanded: "86400s",
    looser: ["86401s", "0s"],
    asStrict: ["86400s", "60s"],
  },
};
