// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import { settingsModule } from "../../../src/settings/object/module.ts";
import { defineSettings } from "../../../src/settings/object/settings.ts";
import {
  builtInLogin,
  loginSettings,
  loginSettingsReader,
} from "../../../src/settings/policy/login.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { allBuiltIn, assertDenied, of, startSettingsPeer, system } from "../settings-peer.ts";

const service = await startSettingsPeer("login");
const { app, deps, set, resolve, settingsOf, instanceId, instance, addOrganization } = service;
const { addMember, eventsOf, remove, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const allFactors = ["totp", "otp_sms", "otp_email", "u2f", "recovery_code"];
const builtIn = allBuiltIn({
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
  second_factors: allFactors,
  trusted_browser_lifetime: "0s",
  first_factors: [],
  prepare_passkeys: false,
});
const reset = Object.fromEntries(Object.keys(builtIn).map((name) => [name, { reset: true }]));

/** Every property with another value than the built-in one, as it is set. */
const others = {
  allow_username_password: false,
  allow_register: false,
  allow_external_idp: false,
  force_mfa: true,
  force_mfa_administrators: true,
  passkeys_allowed: false,
  hide_password_reset: true,
  ignore_unknown_usernames: false,
  validate_org_domains: true,
  password_check_lifetime: "1s",
  mfa_check_lifetime: "2s",
  session_lifetime: "3s",
  max_password_attempts: "3",
  default_redirect_uri: "https://app.example.com/start?a=b",
  second_factors: ["u2f", "totp"],
  trusted_browser_lifetime: "4s",
  first_factors: ["email"],
  prepare_passkeys: true,
};
const setOthers = Object.fromEntries(
  Object.entries(others).map(([name, value]) => [
    name,
    { set: Array.isArray(value) ? { value } : value },
  ]),
);

describe("login settings", () => {
  it("are those that the instance began with, and else the built-in ones, owned by the system", async () => {
    const began = {
      force_mfa_administrators: { value: false },
      validate_org_domains: { value: false },
    };
    const { details, settings } = bodyOf(await resolve());
    assert.deepEqual(details.owner, instance);
    assert.deepEqual(settings, { ...builtIn, ...began });
  });

  it("are set for the instance, inherited by organizations, set there for themselves, and reset", async () => {
    const organization = await addOrganization();
    bodyOf(await set(setOthers));
    const inherited = Object.fromEntries(
      Object.entries(others).map(([name, value]) => [name, { value, owner: instance }]),
    );
    assert.deepEqual(await settingsOf(of(organization)), inherited);
    const { details } = bodyOf(
      await set({ allow_register: { set: true }, second_factors: { set: {} } }, of(organization)),
    );
    assert.deepEqual(details.owner, { type: "OWNER_TYPE_ORG", id: organization });
    assert.deepEqual(bodyOf(await resolve(of(organization))), {
      details,
      settings: { ...inherited, allow_register: { value: true }, second_factors: { value: [] } },
    });
    bodyOf(await set({ allow_register: { reset: true } }, of(organization)));
    const { allow_register } = await settingsOf(of(organization));
    assert.deepEqual(allow_register, inherited["allow_register"]);
    bodyOf(await set(reset));
    assert.deepEqual(await settingsOf(), builtIn);
    assert.deepEqual(await eventsOf("login", organization), [
      ["login.org.allow_register.set", { value: true }],
      ["login.org.second_factors.set", { value: [] }],
      ["login.org.allow_register.reset", {}],
    ]);
  });

  it("are not set in an organization that is deleted while they are decided", async () => {
    const organization = await addOrganization();
    const { db } = app.kernel;
    const { commit } = db;
    db.commit = async (unit) => {
      if (unit.events.some(({ type }) => type.startsWith("login.org."))) {
        db.commit = commit;
        bodyOf(await remove(`/organizations/${organization}`));
      }
      return commit(unit);
    };
    const late = await set({ allow_register: { set: false } }, of(organization));
    assert.equal(db.commit, commit, "it was deleted while they were decided");
    assertRefused(late.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    assert.deepEqual(await eventsOf("login", organization), []);
  });

  it("do not start with other rules for organizations than the options of their message say", () => {
    const loose = defineSettings("login", ["instance", "org"], loginSettings.properties);
    assert.throws(
      () => settingsModule(LoginSettingsService, loose, builtInLogin),
      /says other rules for organizations than its group/,
    );
    assert.doesNotThrow(() => settingsModule(LoginSettingsService, loginSettings, builtInLogin));
  });

  it("are read by the login in one piece, of the instance or of an organization", async () => {
    const organization = await addOrganization();
    const read = loginSettingsReader(deps.db);
    const usual = await read(instanceId);
    assert.deepEqual(usual, {
      allowUsernamePassword: true,
      allowRegister: true,
      allowExternalIdp: true,
      forceMfa: false,
      forceMfaAdministrators: false,
      passkeysAllowed: true,
      hidePasswordReset: false,
      ignoreUnknownUsernames: true,
      validateOrgDomains: false,
      passwordCheckLifetimeMs: 240 * 3_600_000,
      mfaCheckLifetimeMs: 12 * 3_600_000,
      sessionLifetimeMs: 24 * 3_600_000,
      maxPasswordAttempts: 10,
      trustedBrowserLifetimeMs: 0,
      defaultRedirectUri: "",
      secondFactors: allFactors,
      firstFactors: [],
      preparePasskeys: false,
    });
    const { validate_org_domains: _, force_mfa_administrators: __, ...settable } = setOthers;
    bodyOf(await set(settable, of(organization)));
    assert.deepEqual(await read(instanceId, organization), {
      allowUsernamePassword: false,
      allowRegister: false,
      allowExternalIdp: false,
      forceMfa: true,
      forceMfaAdministrators: false,
      passkeysAllowed: false,
      hidePasswordReset: true,
      ignoreUnknownUsernames: false,
      validateOrgDomains: false,
      passwordCheckLifetimeMs: 1_000,
      mfaCheckLifetimeMs: 2_000,
      sessionLifetimeMs: 3_000,
      maxPasswordAttempts: 3,
      trustedBrowserLifetimeMs: 4_000,
      firstFactors: ["email"],
      // Where no passkey counts, none is made.
      preparePasskeys: false,
      defaultRedirectUri: "https://app.example.com/start?a=b",
      secondFactors: ["totp", "u2f"],
    });
    assert.deepEqual(await read(instanceId), usual);
    bodyOf(await remove(`/organizations/${organization}`));
    assert.deepEqual(await read(instanceId, organization), usual);
  });

  it("change nothing and record nothing when nothing differs", async () => {
    const organization = await addOrganization();
    const factors = { second_factors: { set: { value: ["totp"] } } };
    const first = bodyOf(await set(factors, of(organization)));
    for (const same of [{}, factors, { force_mfa: { reset: true } }]) {
      assert.deepEqual(bodyOf(await set(same, of(organization))), first);
    }
  });

  it("of the instance need iam.policy.write, those of an organization policy.write there", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const owner = await addMember(mine, ["ORG_OWNER"]);
    const viewer = await addMember(mine, ["ORG_OWNER_VIEWER"]);
    const manager = await addCaller(app, ["IAM_ORG_MANAGER"]);
    const stranger = await addCaller(app, []);
    const change = { force_mfa: { set: true } };
    bodyOf(await set(change, of(mine), owner));
    bodyOf(await set(change, of(other), manager));
    bodyOf(await resolve(of(mine), viewer));
    assertDenied(await set(change, of(mine), viewer), "policy.write");
    for (const caller of [owner, manager, stranger]) {
      assertDenied(await set(change, "", caller), "iam.policy.write");
      assertDenied(await resolve("", caller), "iam.policy.read");
    }
    const gone = { code: 5, reason: "ORGANIZATION_NOT_FOUND" };
    for (const caller of [owner, stranger]) {
      const hidden = await set(change, of(other), caller);
      const absent = await set(change, of("404"), caller);
      assertRefused(hidden.refusal, gone);
      assert.deepEqual([hidden.status, hidden.json], [absent.status, absent.json]);
      assertRefused((await resolve(of(other), caller)).refusal, gone);
    }
  });

  it("let no organization say what the instance alone says (J10, J11)", async () => {
    const organization = await addOrganization();
    const owner = await addMember(organization, ["ORG_OWNER"]);
    const before = await eventCount();
    for (const value of [true, false]) {
      for (const name of ["validate_org_domains", "force_mfa_administrators"]) {
        const change = { [name]: { set: value }, force_mfa: { set: true } };
        for (const caller of [owner, undefined]) {
          const { refusal } = await set(change, of(organization), caller);
          assertRefused(refusal, { code: 9, reason: "SETTING_OF_INSTANCE" });
        }
      }
    }
    assert.equal(await eventCount(), before);
    bodyOf(await set({ validate_org_domains: { set: true } }));
    const { validate_org_domains, force_mfa } = await settingsOf(of(organization));
    assert.deepEqual(validate_org_domains, { value: true, owner: instance });
    assert.deepEqual(force_mfa, { value: false, owner: system });
    bodyOf(await set({ validate_org_domains: { reset: true } }));
  });

  it("count for nothing where an organization had set validate_org_domains; it may be reset", async () => {
    const organization = await addOrganization();
    const by = { editorId: "", service: "test", clientId: "", requestId: "test", instanceId };
    const type = "login.org.validate_org_domains.set";
    await deps.events.transact(by, async (tx) => {
      const loaded = await tx.load(loginSettings.aggregate, organization);
      const owner = { type: "org", id: organization } as const;
      tx.record(loginSettings.aggregate, loaded, [{ type, payload: { value: true } }], owner);
    });
    const { validate_org_domains } = await settingsOf(of(organization));
    assert.deepEqual(validate_org_domains, { value: false, owner: system });
    const resetting = { validate_org_domains: { reset: true } };
    const { details } = bodyOf(await set(resetting, of(organization)));
    assert.deepEqual(bodyOf(await set(resetting, of(organization))), { details });
  });

  it("are not of the system", async () => {
    const { refusal } = await set({}, "?ctx.system=true");
    assertRefused(refusal, { code: 3, reason: "CONTEXT_INVALID", field: "ctx.system" });
  });

  const uris = [
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://app.example.com/",
    "//app.example.com/",
    "/start",
    "https://",
    "https://user@app.example.com/",
    "https://*.example.com/",
    "https://app.example.com/#part",
    "https://app.example.com/ a",
  ];
  const wrong: [string, JsonObject, string?][] = [
    ...uris.map((uri): [string, JsonObject] => [
      `to lead to ${uri} (D03)`,
      { default_redirect_uri: { set: uri } },
    ]),
    [
      "an address of 2049 characters",
      { default_redirect_uri: { set: `https://app.example.com/${"a".repeat(2025)}` } },
      "settings.default_redirect_uri.set",
    ],
    ["no attempt at a password", { max_password_attempts: { set: "0" } }],
    ["101 attempts at a password", { max_password_attempts: { set: "101" } }],
    ["a password that counts for no time", { password_check_lifetime: { set: "0s" } }],
    ["a password that counts for years", { password_check_lifetime: { set: "31536001s" } }],
    ["a factor that counts for no time", { mfa_check_lifetime: { set: "0s" } }],
    ["a factor that counts for years", { mfa_check_lifetime: { set: "31536001s" } }],
    ["sessions of no time", { session_lifetime: { set: "-1s" } }],
    ["sessions of years", { session_lifetime: { set: "31536001s" } }],
    ["a factor there is not", { second_factors: { set: { value: ["totp", "sms"] } } }],
    ["a factor twice", { second_factors: { set: { value: ["totp", "totp"] } } }],
    ["neither set nor reset", { force_mfa: {} }, "settings.force_mfa.value"],
  ];
  for (const [what, settings, field = `settings.${Object.keys(settings)[0]}`] of wrong) {
    it(`refuse ${what}`, async () => {
      const { refusal } = await set(settings);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("take addresses of http and https, and none", async () => {
    for (const value of ["http://localhost:3000", "HTTPS://app.example.com?a=b", ""]) {
      bodyOf(await set({ default_redirect_uri: { set: value } }));
      assert.deepEqual((await settingsOf()).default_redirect_uri, { value });
    }
    bodyOf(await set(reset));
  });
});
