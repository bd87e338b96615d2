// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { securitySettingsReader } from "../../../src/settings/security/index.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { allBuiltIn, assertDenied, of, startSettingsPeer } from "../settings-peer.ts";

const service = await startSettingsPeer("security");
const { app, deps, set, resolve, settingsOf, instanceId, instance, addOrganization } = service;
const { addMember, eventsOf } = service;
after(() => service[Symbol.asyncDispose]());

const builtIn = allBuiltIn({
  enable_impersonation: false,
  allowed_frame_origins: [],
  allowed_link_hosts: [],
  related_origins: [],
  security_contacts: [],
  security_policy_url: "",
  console_session_lifetime: "43200s",
  console_idle_expiration: "3600s",
});
const frames = (...value: string[]) => ({ allowed_frame_origins: { set: { value } } });
const reset = {
  enable_impersonation: { reset: true },
  allowed_frame_origins: { reset: true },
};

describe("security settings", () => {
  it("are the built-in ones, owned by the system, where nobody set any", async () => {
    assert.deepEqual(bodyOf(await resolve()), {
      details: { sequence: "0", owner: instance },
      settings: builtIn,
    });
  });

  it("are set one by one for the instance, read in one piece, and reset", async () => {
    const read = securitySettingsReader(deps.db);
    const usual = {
      enableImpersonation: false,
      allowedFrameOrigins: [],
      allowedLinkHosts: [],
      relatedOrigins: [],
      securityContacts: [],
      securityPolicyUrl: "",
      consoleSessionMs: 43_200_000,
      consoleIdleMs: 3_600_000,
    };
    assert.deepEqual(await read(instanceId), usual);
    const origin = "https://app.example.com";
    const first = bodyOf(await set(frames(origin)));
    assert.deepEqual(bodyOf(await resolve()), {
      ...first,
      settings: { ...builtIn, allowed_frame_origins: { value: [origin] } },
    });
    assert.deepEqual(bodyOf(await set(frames(origin))), first, "nothing differs");
    bodyOf(await set({ enable_impersonation: { set: true } }));
    assert.deepEqual(await read(instanceId), {
      enableImpersonation: true,
      allowedFrameOrigins: [origin],
      allowedLinkHosts: [],
      relatedOrigins: [],
      securityContacts: [],
      securityPolicyUrl: "",
      consoleSessionMs: 43_200_000,
      consoleIdleMs: 3_600_000,
    });
    bodyOf(await set(reset));
    assert.deepEqual(await settingsOf(), builtIn);
    assert.deepEqual(await read(instanceId), usual);
    assert.deepEqual(await eventsOf("security", instanceId), [
      ["security.instance.allowed_frame_origins.set", { value: [origin] }],
      ["security.instance.enable_impersonation.set", { value: true }],
      ["security.instance.enable_impersonation.reset", {}],
      ["security.instance.allowed_frame_origins.reset", {}],
    ]);
  });

  it("need iam.policy.write on the instance, and iam.policy.read to be read", async () => {
    const change = { enable_impersonation: { set: true } };
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const owner = await addMember(await addOrganization(), ["ORG_OWNER"]);
    bodyOf(await resolve("", viewer));
    assertDenied(await set(change, "", viewer), "iam.policy.write");
    for (const other of [owner, await addCaller(app, ["IAM_ORG_MANAGER"])]) {
      assertDenied(await set(change, "", other), "iam.policy.write");
      assertDenied(await resolve("", other), "iam.policy.read");
    }
  });

  it("are set for an organization, which takes away what the instance allows", async () => {
    const organization = await addOrganization();
    const owner = await addMember(organization, ["ORG_OWNER"]);
    const [one, other] = ["https://app.example.com", "https://other.example.com"];
    bodyOf(await set({ ...frames(one, other), enable_impersonation: { set: true } }));
    const change = { ...frames(other), enable_impersonation: { set: false } };
    const { details } = bodyOf(await set(change, of(organization), owner));
    assert.deepEqual(details.owner, { type: "OWNER_TYPE_ORG", id: organization });
    assert.deepEqual(bodyOf(await resolve(of(organization), owner)), {
      details,
      settings: {
        ...builtIn,
        enable_impersonation: { value: false },
        allowed_frame_origins: { value: [other] },
      },
    });
    const read = securitySettingsReader(deps.db);
    const inForce = async (...asked: [string, string?]) => {
      const { enableImpersonation, allowedFrameOrigins } = await read(...asked);
      return [enableImpersonation, allowedFrameOrigins];
    };
    assert.deepEqual(await inForce(instanceId, organization), [false, [other]]);
    assert.deepEqual(await inForce(instanceId, await addOrganization()), [true, [one, other]]);
    bodyOf(await set(reset, of(organization), owner));
    const types = (await eventsOf("security", organization)).map(([type]) => type);
    assert.deepEqual(types, [
      "security.org.enable_impersonation.set",
      "security.org.allowed_frame_origins.set",
      "security.org.enable_impersonation.reset",
      "security.org.allowed_frame_origins.reset",
    ]);
    bodyOf(await set(reset));
  });

  it("need policy.write in the organization, and policy.read to be read", async () => {
    const organization = await addOrganization();
    const change = { enable_impersonation: { set: false } };
    const stranger = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const viewer = await addMember(organization, ["ORG_OWNER_VIEWER"]);
    bodyOf(await resolve(of(organization), viewer));
    assertDenied(await set(change, of(organization), viewer), "policy.write");
    for (const call of [
      set(change, of(organization), stranger),
      resolve(of(organization), stranger),
    ])
      assertRefused((await call).refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
  });

  for (const wrong of [
    "",
    "*",
    "null",
    "https:",
    "app.example.com",
    "https://",
    "https://*.example.com",
    "https://app.example.com/",
    "https://app.example.com/path",
    "https://App.example.com",
    "https://user@app.example.com",
    "https://app.example.com:0",
    "https://app.example.com:65536",
    "https://app.example.com:",
    "https://-app.example.com",
    "https://app..example.com",
    "https://app.example.com;script-src *",
    "https://app.example.com https://evil.test",
    "https://app.example.com,https://evil.test",
    "https://app.example.com\r\nx: y",
    "https://app.example.com\n",
    "ftp://app.example.com",
    "javascript:alert(1)",
    `https://${"a.".repeat(150)}com`,
  ]) {
    it(`refuse to be framed by ${JSON.stringify(wrong).slice(0, 60)} (D78)`, async () => {
      const { refusal } = await set(frames("https://app.example.com", wrong));
      const field = "settings.allowed_frame_origins";
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("refuse an origin twice, more than 100, and neither set nor reset", async () => {
    const field = "settings.allowed_frame_origins";
    const many = Array.from({ length: 101 }, (_, at) => `https://a${at}.example.com`);
    for (const change of [frames("http://localhost", "http://localhost"), frames(...many)]) {
      assertRefused((await set(change)).refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    }
    const { refusal } = await set({ enable_impersonation: {} });
    const choice = "settings.enable_impersonation.value";
    assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field: choice });
    bodyOf(await set(frames(...many.slice(1))));
    bodyOf(await set(reset));
  });

  for (const name of ["console_session_lifetime", "console_idle_expiration"]) {
    it(`take ${name} from a minute to thirty days, and refuse any other`, async () => {
      for (const value of ["60s", "2592000s"]) {
        bodyOf(await set({ [name]: { set: value } }));
        assert.deepEqual((await settingsOf())[name], { value });
      }
      for (const value of ["0s", "-60s", "59.999s", "2592001s"]) {
        const { refusal } = await set({ [name]: { set: value } });
        const field = `settings.${name}`;
        assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
      }
      bodyOf(await set({ [name]: { reset: true } }));
      assert.deepEqual((await settingsOf())[name], builtIn[name]);
    });
  }

  it("take names, addresses and ports", async () => {
    const all = [
      "https://app.example.com",
      "http://localhost:3000",
      "https://xn--bcher-kva.example:65535",
      "http://127.0.0.1:8080",
      "http://[::1]:8080",
    ];
    bodyOf(await set(frames(...all)));
    assert.deepEqual((await settingsOf()).allowed_frame_origins, { value: all });
    bodyOf(await set(reset));
  });
});
