import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { images } from "../settings/branding/images.ts";

type Send = (
  method: string,
  path: string,
  body: JsonObject | JsonObject[],
) => Promise<{ status: number }>;

/** A value of every property, by the path of its service, and others where an organization may not set the same. */
const groups: [path: string, values: JsonObject, ofOrganization?: JsonObject][] = [
  [
    "passwords",
    {
      min_length: "9",
      max_age: "60s",
      blocklist: false,
      requires_uppercase: true,
      requires_lowercase: true,
      requires_number: true,
      requires_symbol: true,
      screen_passwords: true,
      screen_passwords_at_login: true,
    },
  ],
  [
    "login",
    {
      allow_username_password: false,
      allow_register: false,
      allow_external_idp: false,
      force_mfa: true,
      passkeys_allowed: false,
      hide_password_reset: true,
      ignore_unknown_usernames: false,
      validate_org_domains: true,
      force_mfa_administrators: true,
      password_check_lifetime: "60s",
      mfa_check_lifetime: "60s",
      session_lifetime: "60s",
      max_password_attempts: "5",
      default_redirect_uri: "https://app.example.com/",
      second_factors: { value: ["totp"] },
      trusted_browser_lifetime: "3600s",
      first_factors: { value: ["email"] },
      prepare_passkeys: false,
    },
  ],
  [
    "branding",
    {
      product_name: "Acme",
      primary_color: "#1d4ed8",
      background_color: "#ffffff",
      theme: "dark",
      logo: images["image/png"].toString("base64"),
      logo_dark: images["image/webp"].toString("base64"),
    },
  ],
  [
    "security",
    {
      enable_impersonation: true,
      allowed_frame_origins: { value: ["https://app.example.com"] },
      allowed_link_hosts: { value: ["login.example.com"] },
      related_origins: { value: ["https://login.example.com"] },
      security_contacts: { value: ["mailto:security@example.com"] },
      security_policy_url: "https://example.com/security",
      console_session_lifetime: "28800s",
      console_idle_expiration: "1800s",
    },
    { enable_impersonation: false, allowed_frame_origins: { value: [] } },
  ],
  [
    "oidc",
    {
      access_token_lifetime: "3600s",
      id_token_lifetime: "3600s",
      refresh_token_idle_expiration: "3600s",
      refresh_token_expiration: "7200s",
      authorization_code_lifetime: "30s",
      key_rotation_period: "86400s",
    },
  ],
];

/** What organizations cannot set. */
const ofInstance: ReadonlySet<string> = new Set([
  "validate_org_domains",
  "force_mfa_administrators",
  "key_rotation_period",
  "allowed_link_hosts",
  "related_origins",
  "security_contacts",
  "security_policy_url",
  "console_session_lifetime",
  "console_idle_expiration",
]);

/** Languages have setters of their own. */
const ofLanguages: JsonObject[] = [
  {
    default_language: { key: "de" },
    restricted_languages: { languages: [{ key: "de" }, { key: "en" }] },
  },
  { reset_default_language: true, restricted_languages: {} },
];

/** A body that is a list. */
const ofTexts = [{ set: "Willkommen" }, { reset: true }].map((value) => [
  { key: "password.title", language: "de", ...value },
]);

/** Sets and resets every property of settings, in all contexts that have them. */
export async function rareSettings(send: Send, organizationId: string): Promise<void> {
  const everywhere = ["", `?ctx.org_id=${organizationId}`];
  const make = async (
    path: string,
    changes: (JsonObject | JsonObject[])[],
    contexts = everywhere,
  ) => {
    for (const context of contexts) {
      for (const all of changes) {
        const change =
          context === "" || Array.isArray(all)
            ? all
            : Object.fromEntries(Object.entries(all).filter(([name]) => !ofInstance.has(name)));
        const { status } = await send("PATCH", `/settings/v3alpha/${path}${context}`, change);
        assert.equal(status, 200, `${path}${context}`);
      }
    }
  };
  for (const [path, values, ofOrganization = {}] of groups) {
    const changesOf = (all: [string, unknown][]) => [
      Object.fromEntries(all.map(([name, set]) => [name, { set }])) as JsonObject,
      Object.fromEntries(all.map(([name]) => [name, { reset: true }])) as JsonObject,
    ];
    const all = Object.entries(values);
    await make(path, changesOf(all), [""]);
    const others = Object.entries({ ...values, ...ofOrganization });
    await make(path, changesOf(others), everywhere.slice(1));
  }
  await make("languages", ofLanguages);
  await make("texts", ofTexts);
}
