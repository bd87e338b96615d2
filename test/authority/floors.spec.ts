// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import {
  type DescField,
  fromJson,
  getOption,
  type JsonObject,
  type JsonValue,
} from "@bufbuild/protobuf";
import { Floor, floor, of_instance } from "#gen/idsvc/options/v1/options_pb.ts";
import { SetLoginSettingsSchema } from "#gen/idsvc/settings/login/v3alpha/login_pb.ts";
import { LoginSettingsService } from "#gen/idsvc/settings/login/v3alpha/login_settings_service_pb.ts";
import { SetOIDCSettingsSchema } from "#gen/idsvc/settings/oidc/v3alpha/oidc_pb.ts";
import { OIDCSettingsService } from "#gen/idsvc/settings/oidc/v3alpha/oidc_settings_service_pb.ts";
import { SetPasswordSettingsSchema } from "#gen/idsvc/settings/password/v3alpha/password_pb.ts";
import { PasswordSettingsService } from "#gen/idsvc/settings/password/v3alpha/password_settings_service_pb.ts";
import { SetSecuritySettingsSchema } from "#gen/idsvc/settings/security/v3alpha/security_pb.ts";
import { SecuritySettingsService } from "#gen/idsvc/settings/security/v3alpha/security_settings_service_pb.ts";
import { importPeer, newName } from "../management/import-peer.ts";
import { of } from "../settings/settings-peer.ts";
import { bodyOf, startPeer } from "../support/peer.ts";
import { assertRefused } from "../support/refusal.ts";
import { cases, type Group, type Value } from "./floor-cases.ts";

const service = await startPeer();
const { app, peer, post, addOrganization, addMember } = service;
const { token } = app;
after(() => service[Symbol.asyncDispose]());

const ofInstance = { type: "OWNER_TYPE_INSTANCE", id: app.made.instance_id };

const builtInOwner = { type: "OWNER_TYPE_SYSTEM", id: "" };

const wish = (value: Value): JsonObject => ({ set: Array.isArray(value) ? { value } : value });
const change = (group: Group, settings: JsonObject, query = "", by = token) =>
  peer.rest("PATCH", `/settings/v3alpha/${group}${query}`, settings, { token: by });
async function read(group: Group, name: string, query = ""): Promise<JsonValue> {
  const answer = await peer.rest("GET", `/settings/v3alpha/${group}${query}`, undefined, { token });
  return bodyOf(answer).settings[name];
}

/** The same over gRPC; the context stands in the header. */
function changeByGrpc(group: Group, settings: JsonObject, organizationId: string) {
  const options = { token, headers: { "x-idsvc-orgid": organizationId } };
  if (group === "login") {
    const { setLoginSettings } = LoginSettingsService.method;
    const request = { settings: fromJson(SetLoginSettingsSchema, settings) };
    return peer.call("grpc", setLoginSettings, request, options);
  }
  if (group === "oidc") {
    const { setOIDCSettings } = OIDCSettingsService.method;
    const request = { settings: fromJson(SetOIDCSettingsSchema, settings) };
    return peer.call("grpc", setOIDCSettings, request, options);
  }
  if (group === "security") {
    const { setSecuritySettings } = SecuritySettingsService.method;
    const request = { settings: fromJson(SetSecuritySettingsSchema, settings) };
    return peer.call("grpc", setSecuritySettings, request, options);
  }
  const { setPasswordSettings } = PasswordSettingsService.method;
  const request = { settings: fromJson(SetPasswordSettingsSchema, settings) };
  return peer.call("grpc", setPasswordSettings, request, options);
}

const floorOf = (field: DescField) => getOption(field, floor);

/** Whatever a method of a settings service sets. */
const fields = app.app.endpoints
  .map(({ rule }) => rule.method)
  .filter(
    ({ name, parent }) => parent.typeName.startsWith("idsvc.settings.") && name.startsWith("Set"),
  )
  .flatMap(({ input }) => input.fields)
  .filter(({ name }) => name !== "ctx")
  .flatMap(({ message }) => message?.fields ?? []);

describe("the option floor", () => {
  const looks = "how it looks and reads, not who gets in";
  const alone = "of the instance alone: no organization sets it";
  const offered = "which ways in are offered; each of them proves as much as it did";
  /** Properties that an organization may set as it likes, or not at all; why. */
  const without: readonly [RegExp, string][] = [
    [/\.SetLoginSettings\.(allow_username_password|allow_register|allow_external_idp)$/, offered],
    [/\.SetLoginSettings\.(hide_password_reset|ignore_unknown_usernames)$/, offered],
    [/\.SetLoginSettings\.default_redirect_uri$/, "where people go who are logged in already"],
    [/\.SetFeatureSettings\./, alone],
    [/\.SetBrandingSettings\./, looks],
    [/\.SetLanguageSettings\./, looks],
    [/\.SetText\./, looks],
  ];
  it("stands at every property that organizations set, or there is a reason why not", () => {
    const used = new Set<RegExp>();
    const open = fields
      .map((field) => ({ field, name: `${field.parent.typeName}.${field.name}` }))
      .filter(({ field, name }) => {
        const reason = without.find(([which]) => which.test(name))?.[0];
        if (reason !== undefined) used.add(reason);
        // One of them, not two.
        const has = [floorOf(field) !== Floor.UNSPECIFIED, getOption(field, of_instance)];
        return [...has, reason !== undefined].filter((each) => each).length !== 1;
      });
    assert.deepEqual(
      open.map(({ name }) => name),
      [],
      "give the property the option floor or of_instance, or say here why it needs none",
    );
    const idle = without.filter(([which]) => !used.has(which)).map(([which]) => String(which));
    assert.deepEqual(idle, [], "no property has this reason");
  });

  it("is tested below wherever it stands", () => {
    const named = fields.filter((field) => floorOf(field) !== Floor.UNSPECIFIED);
    assert.deepEqual(named.map(({ name }) => name).toSorted(), Object.keys(cases).toSorted());
  });

  it("is not needed where no organization can set anything", async () => {
    const headers = { "x-idsvc-orgid": await addOrganization() };
    const settings = { oidc_token_exchange: { set: false } };
    const { refusal } = await peer.rest("PATCH", "/settings/v3alpha/features", settings, {
      token,
      headers,
    });
    assertRefused(refusal, { code: 3, reason: "CONTEXT_INVALID", field: "ctx" });
  });
});

describe("the option of_instance", () => {
  const alone: readonly [Group, string, Value][] = [
    ["login", "validate_org_domains", true],
    ["login", "force_mfa_administrators", true],
    ["oidc", "key_rotation_period", "86400s"],
    ["security", "allowed_link_hosts", []],
    ["security", "related_origins", []],
    ["security", "security_contacts", []],
    ["security", "security_policy_url", "https://example.com/security"],
    ["security", "console_session_lifetime", "28800s"],
    ["security", "console_idle_expiration", "1800s"],
  ];

  it("is tested here wherever it stands", () => {
    const named = fields.filter((field) => getOption(field, of_instance));
    assert.deepEqual(
      named.map(({ name }) => name).toSorted(),
      alone.map(([, name]) => name).toSorted(),
    );
  });

  for (const [group, name, value] of alone)
    it(`keeps ${name} from organizations, and names the field`, async () => {
      const organization = await addOrganization();
      const owner = await addMember(organization, ["ORG_OWNER"]);
      const settings = { [name]: wish(value) };
      const before = await service.eventCount();
      const refused = { code: 9, reason: "SETTING_OF_INSTANCE", field: `settings.${name}` };
      for (const by of [owner.token, token]) {
        assertRefused((await change(group, settings, of(organization), by)).refusal, refused);
      }
      assertRefused(await changeByGrpc(group, settings, organization), refused);
      assert.equal(await service.eventCount(), before, "nothing of it was written");
      // Back to the instance's is what it has in any case.
      bodyOf(await change(group, { [name]: { reset: true } }, of(organization), owner.token));
      const document = bodyOf(await peer.rest("GET", "/openapi.json"));
      assert.match(JSON.stringify(document), new RegExp(`"${name}":\\{[^{}]*SETTING_OF_INSTANCE`));
    });
});

describe("D89: what the instance has set is a floor (J16)", () => {
  for (const [name, { group, demanded, looser, asStrict, loosest }] of Object.entries(cases)) {
    it(`of ${name}: an organization is as strict, or stricter`, async () => {
      const organization = await addOrganization();
      const owner = await addMember(organization, ["ORG_OWNER"]);
      bodyOf(await change(group, { [name]: wish(demanded) }));
      const before = await service.eventCount();
      for (const value of looser) {
        const settings = { [name]: wish(value) };
        const refused = { code: 9, reason: "LOOSER_THAN_INSTANCE", field: `settings.${name}` };
        for (const by of [owner.token, token]) {
          assertRefused((await change(group, settings, of(organization), by)).refusal, refused);
        }
        assertRefused(await changeByGrpc(group, settings, organization), refused);
        const inherited = { value: demanded, owner: ofInstance };
        assert.deepEqual(await read(group, name, of(organization)), inherited);
      }
      assert.equal(await service.eventCount(), before, "nothing of it was written");
      for (const value of asStrict) {
        bodyOf(await change(group, { [name]: wish(value) }, of(organization), owner.token));
        assert.deepEqual(await read(group, name, of(organization)), { value });
        bodyOf(await change(group, { [name]: { reset: true } }, of(organization), owner.token));
        const { ok } = await changeByGrpc(group, { [name]: wish(value) }, organization);
        assert.ok(ok);
        assert.deepEqual(await read(group, name, of(organization)), { value });
      }
      bodyOf(await change(group, { [name]: { reset: true } }));
    });

    it(`of ${name}: what is looser counts only while the instance lets it`, async () => {
      const organization = await addOrganization();
      const [first = demanded] = looser;
      // What is built in demands nothing, but for what organizations may only take away.
      bodyOf(await change(group, { [name]: { reset: true } }));
      if (loosest !== undefined) {
        const answer = await change(group, { [name]: wish(first) }, of(organization));
        const refused = { code: 9, reason: "LOOSER_THAN_INSTANCE", field: `settings.${name}` };
        assertRefused(answer.refusal, refused);
        bodyOf(await change(group, { [name]: wish(loosest) }));
      }
      bodyOf(await change(group, { [name]: wish(first) }, of(organization)));
      assert.deepEqual(await read(group, name, of(organization)), { value: first });
      bodyOf(await change(group, { [name]: wish(demanded) }));
      const inherited = { value: demanded, owner: ofInstance };
      assert.deepEqual(await read(group, name, of(organization)), inherited);
      // Also the same again is refused, and what else is wished with it.
      const again = { [name]: wish(first) };
      const refused = { code: 9, reason: "LOOSER_THAN_INSTANCE", field: `settings.${name}` };
      assertRefused((await change(group, again, of(organization))).refusal, refused);
      bodyOf(await change(group, { [name]: { reset: true } }));
      if (loosest !== undefined) {
        const { owner } = Object(await read(group, name, of(organization)));
        assert.deepEqual(owner, builtInOwner);
        bodyOf(await change(group, { [name]: wish(loosest) }));
      }
      assert.deepEqual(await read(group, name, of(organization)), { value: first });
      // What it has is taken back in any case.
      bodyOf(await change(group, { [name]: wish(demanded) }));
      bodyOf(await change(group, { [name]: { reset: true } }, of(organization)));
      bodyOf(await change(group, { [name]: { reset: true } }));
      assert.notDeepEqual(await read(group, name, of(organization)), { value: first });
    });
  }

  it("of nothing where the instance itself has no limit", async () => {
    const organization = await addOrganization();
    bodyOf(await change("passwords", { max_age: { set: "0s" } }));
    bodyOf(await change("passwords", { max_age: { set: "0s" } }, of(organization)));
    assert.deepEqual(await read("passwords", "max_age", of(organization)), { value: "0s" });
    bodyOf(await change("passwords", { max_age: { set: "60s" } }, of(organization)));
    bodyOf(await change("passwords", { max_age: { reset: true } }));
  });

  it("refuses all that is wished with what is looser, and leaves the other properties free", async () => {
    const organization = await addOrganization();
    const free = { allow_register: { set: false }, hide_password_reset: { set: true } };
    bodyOf(await change("login", { force_mfa: { set: true }, ...free }));
    const other = { allow_register: { set: true }, hide_password_reset: { set: false } };
    const both = { ...other, force_mfa: { set: false } };
    const field = "settings.force_mfa";
    assertRefused((await change("login", both, of(organization))).refusal, {
      code: 9,
      reason: "LOOSER_THAN_INSTANCE",
      field,
    });
    const inherited = { value: false, owner: ofInstance };
    assert.deepEqual(await read("login", "allow_register", of(organization)), inherited);
    bodyOf(await change("login", other, of(organization)));
    assert.deepEqual(await read("login", "allow_register", of(organization)), { value: true });
    const reset = { force_mfa: { reset: true }, allow_register: { reset: true } };
    bodyOf(await change("login", { ...reset, hide_password_reset: { reset: true } }));
  });

  it("holds for the passwords that people get", async () => {
    const organization = await addOrganization();
    bodyOf(await change("passwords", { min_length: { reset: true } }));
    bodyOf(await change("passwords", { min_length: { set: "6" } }, of(organization)));
    const wanted = { username: newName("user"), data: { given_name: "Ada" } };
    const made = bodyOf(await post(`/users${of(organization)}`, wanted), 201);
    const set = (password: string) => post(`/users/${made.details.id}/password`, { password });
    bodyOf(await set("ziqv7x"));
    bodyOf(await change("passwords", { min_length: { set: "12" } }));
    const { refusal } = await set("ziqv7y");
    assertRefused(refusal, { code: 3, reason: "PASSWORD_POLICY" });
    assert.equal(refusal.metadata["missing"], "min_length");
    bodyOf(await set("ziqv7y-ziqv7y"));
    bodyOf(await change("passwords", { min_length: { reset: true } }));
    bodyOf(await set("ziqv7z"));
  });

  it("holds for what an import brings, record by record", async () => {
    const orgId = newName("org");
    const { bring } = importPeer(service);
    const demands = {
      force_mfa: { set: true },
      passkeys_allowed: { set: false },
      max_password_attempts: { set: "5" },
      second_factors: { set: { value: ["totp"] } },
    };
    bodyOf(await change("login", demands));
    bodyOf(await change("passwords", { min_length: { set: "10" } }));
    const answer = await bring([
      {
        orgId,
        org: { name: orgId },
        passwordComplexityPolicy: { minLength: "9", hasNumber: true },
        loginPolicy: { forceMfa: false },
        lockoutPolicy: { maxPasswordAttempts: "6" },
        secondFactors: [{ type: "SECOND_FACTOR_TYPE_OTP" }, { type: "SECOND_FACTOR_TYPE_U2F" }],
        multiFactors: [{ type: "MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION" }],
        labelPolicy: { primaryColor: "#1d4ed8" },
      },
    ]);
    const refused: { type: string; reason: string; field: string }[] = answer.errors;
    const told = refused.map(({ type, reason, field }) => `${type} ${reason} ${field}`);
    assert.deepEqual(told.toSorted(), [
      "lockoutPolicy LOOSER_THAN_INSTANCE settings.max_password_attempts",
      "loginPolicy LOOSER_THAN_INSTANCE settings.force_mfa",
      "multiFactors LOOSER_THAN_INSTANCE settings.passkeys_allowed",
      "passwordComplexityPolicy LOOSER_THAN_INSTANCE settings.min_length",
      "secondFactors LOOSER_THAN_INSTANCE settings.second_factors",
    ]);
    assert.deepEqual(await read("login", "second_factors", of(orgId)), { value: ["totp"] });
    const reset = Object.fromEntries(Object.keys(demands).map((each) => [each, { reset: true }]));
    bodyOf(await change("login", reset));
    bodyOf(await change("passwords", { min_length: { reset: true } }));
  });
});
