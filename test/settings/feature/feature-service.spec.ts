// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { exportSPKI, generateKeyPair, SignJWT } from "jose";
import { OwnerType } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import { FeatureService } from "#gen/idsvc/settings/feature/v3alpha/feature_service_pb.ts";
import { addCaller, startTestApp } from "../../support/app.ts";
import { type CallOptions, connectPeer, messageOf, protocols } from "../../support/protocols.ts";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf } from "../../resources/action/action-peer.ts";

const [key, otherKey] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
const env = { IDSVC_SYSTEM_CALLERS: JSON.stringify({ ops: await exportSPKI(key.publicKey) }) };
const app = await startTestApp({ env });
const peer = connectPeer(app.port);
const { token, made } = app;
after(async () => {
  peer[Symbol.dispose]();
  await app[Symbol.asyncDispose]();
});

/** A token of the system caller "ops", with what is given instead. */
function systemToken(more: JsonObject = {}, by = key.privateKey): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: "ops", sub: "ops", aud: made.issuer, iat: now, exp: now + 300, ...more };
  return new SignJWT(claims).setProtectedHeader({ alg: "ES256" }).sign(by);
}

const path = "/settings/v3alpha/features";
const set = (settings: JsonValue, query = "", options: CallOptions = {}) =>
  peer.rest("PATCH", `${path}${query}`, settings, { token, ...options });
const resolve = (query = "", options: CallOptions = {}) =>
  peer.rest("GET", `${path}${query}`, undefined, { token, ...options });
const settingsOf = async (query = "") =>
  bodyOf(await resolve(query, { token: await systemOr(query) })).settings;
const systemOr = (query: string) => (query.includes("system") ? systemToken() : token);

const inherited = (value: boolean) => ({ value, owner: { type: "OWNER_TYPE_SYSTEM", id: "" } });
const builtIn = {
  multitenancy_resources_api: inherited(true),
  multitenancy_settings: inherited(true),
  oidc_token_exchange: inherited(false),
};
const instanceOwner = { type: "OWNER_TYPE_INSTANCE", id: made.instance_id };
const eventsOf = async (instanceId: string) =>
  (await app.kernel.events.read({ instanceId })).filter(({ type }) => type.startsWith("feature."));
const system = "?ctx.system=true";

/** Every flag back to the built-in value, in both contexts. */
async function clear(): Promise<void> {
  const reset = Object.fromEntries(Object.keys(builtIn).map((flag) => [flag, { reset: true }]));
  bodyOf(await set(reset));
  bodyOf(await set(reset, system, { token: await systemToken() }));
}

describe("resolving features", () => {
  it("tells the built-in values, which the system owns, and that nothing was ever set", async () => {
    await using fresh = await startTestApp();
    using client = connectPeer(fresh.port);
    const answer = await client.rest("GET", path, undefined, { token: fresh.token });
    const owner = { ...instanceOwner, id: fresh.made.instance_id };
    assert.deepEqual(bodyOf(answer), { details: { sequence: "0", owner }, settings: builtIn });
  });

  it("takes the built-in values from the configuration", async () => {
    const off = {
      IDSVC_FEATURE_MULTITENANCY_RESOURCES_API: "false",
      IDSVC_FEATURE_OIDC_TOKEN_EXCHANGE: "true",
    };
    await using other = await startTestApp({ env: off });
    using client = connectPeer(other.port);
    const { settings } = bodyOf(await client.rest("GET", path, undefined, { token: other.token }));
    assert.deepEqual(settings.multitenancy_resources_api, inherited(false));
    assert.deepEqual(settings.oidc_token_exchange, inherited(true));
    const { refusal } = await client.rest("POST", "/resources/v3alpha/targets/_search", [], {
      token: other.token,
    });
    assertRefused(refusal, { code: 9, reason: "FEATURE_DISABLED" });
  });

  it("is for readers; changing is not", async () => {
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    bodyOf(await resolve("", viewer));
    const { refusal } = await set({}, "", viewer);
    assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
    assert.deepEqual(refusal.metadata, { permission: "iam.feature.write" });
  });
});

describe("setting features of an instance", () => {
  it("changes the flags given and no others, and then names no owner", async () => {
    await clear();
    const answer = bodyOf(await set({ oidc_token_exchange: { set: true } }));
    const last = (await eventsOf(made.instance_id)).at(-1);
    assert.equal(last?.type, "feature.instance.oidc_token_exchange.set");
    assert.deepEqual(last.payload, { value: true });
    assert.equal(last.editorId, made.machine.user_id);
    const { change_date: date, ...details } = answer.details;
    assert.deepEqual(details, { sequence: String(last.sequence), owner: instanceOwner });
    assert.equal(Date.parse(date), last.createdAt.getTime());
    assert.deepEqual(bodyOf(await resolve()), {
      details: answer.details,
      settings: { ...builtIn, oidc_token_exchange: { value: true } },
    });
  });

  it("keeps a value that equals the inherited one as its own", async () => {
    await clear();
    bodyOf(await set({ oidc_token_exchange: { set: false } }));
    assert.deepEqual((await settingsOf()).oidc_token_exchange, { value: false });
  });

  it("returns a flag to the parent on reset", async () => {
    await clear();
    bodyOf(
      await set({ oidc_token_exchange: { set: true }, multitenancy_settings: { set: false } }),
    );
    bodyOf(await set({ oidc_token_exchange: { reset: true } }));
    const settings = await settingsOf();
    assert.deepEqual(settings, { ...builtIn, multitenancy_settings: { value: false } });
    const [last] = (await eventsOf(made.instance_id)).slice(-1);
    assert.deepEqual(last?.type, "feature.instance.oidc_token_exchange.reset");
  });

  it("records nothing when nothing differs, and answers the last change", async () => {
    await clear();
    const first = bodyOf(await set({ oidc_token_exchange: { set: true } }));
    const { length } = await eventsOf(made.instance_id);
    for (const same of [
      {},
      { oidc_token_exchange: { set: true } },
      { multitenancy_settings: { reset: true } },
    ]) {
      assert.deepEqual(bodyOf(await set(same)), first);
    }
    assert.equal((await eventsOf(made.instance_id)).length, length);
  });

  it("succeeds with nothing where nothing was ever set", async () => {
    await using fresh = await startTestApp();
    using client = connectPeer(fresh.port);
    const answer = await client.rest("PATCH", path, {}, { token: fresh.token });
    const owner = { ...instanceOwner, id: fresh.made.instance_id };
    assert.deepEqual(bodyOf(answer), { details: { sequence: "0", owner } });
  });

  it("keeps all of changes that come at the same time", async () => {
    await clear();
    const wished = { multitenancy_settings: false, oidc_token_exchange: true };
    const answers = await Promise.all(
      Object.entries(wished).map(([flag, value]) => set({ [flag]: { set: value } })),
    );
    for (const answer of answers) bodyOf(answer);
    const { multitenancy_settings: one, oidc_token_exchange: two } = await settingsOf();
    assert.deepEqual([one, two], [{ value: false }, { value: true }]);
    await clear();
  });

  const flag = "oidc_token_exchange";
  const refused: [string, JsonValue | undefined, string, string][] = [
    ["without a body", undefined, "VALIDATION_FAILED", "settings"],
    ["with neither set nor reset", { [flag]: {} }, "VALIDATION_FAILED", `settings.${flag}.value`],
    [
      "with reset: false",
      { [flag]: { reset: false } },
      "VALIDATION_FAILED",
      `settings.${flag}.reset`,
    ],
    [
      "with both",
      { [flag]: { set: true, reset: true } },
      "INVALID_JSON_FIELD",
      `settings.${flag}.reset`,
    ],
    ["with a text", { [flag]: { set: "true" } }, "INVALID_JSON_FIELD", `settings.${flag}.set`],
    ["with a plain value", { [flag]: true }, "INVALID_JSON_FIELD", `settings.${flag}`],
    ["with an unknown flag", { flying: { set: true } }, "UNKNOWN_FIELD", "settings.flying"],
  ];
  for (const [what, body, reason, field] of refused) {
    it(`is refused ${what}, and records nothing`, async () => {
      const { length } = await eventsOf(made.instance_id);
      const { status, refusal } = await set(body as JsonValue);
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason, field });
      assert.equal((await eventsOf(made.instance_id)).length, length);
    });
  }
});

describe("the context of features", () => {
  it("is the instance of the host, by its id or its domain too", async () => {
    for (const query of [`instance_id=${made.instance_id}`, "instance_domain=localhost"]) {
      assert.deepEqual(bodyOf(await resolve(`?ctx.${query}`)), bodyOf(await resolve()));
    }
  });

  const unknown: [string, string][] = [
    ["instance_id=404", "INSTANCE_NOT_FOUND"],
    ["instance_domain=i2.test", "INSTANCE_NOT_FOUND"],
    ["org_id=404", "ORGANIZATION_NOT_FOUND"],
    ["org_domain=nobody.test", "ORGANIZATION_NOT_FOUND"],
  ];
  for (const [query, reason] of unknown) {
    it(`is refused with 404 for ctx.${query}`, async () => {
      const { status, refusal } = await resolve(`?ctx.${query}`);
      assert.equal(status, 404);
      assertRefused(refusal, { code: 5, reason });
      assertRefused((await set({}, `?ctx.${query}`)).refusal, { code: 5, reason });
    });
  }

  it("is never an organization", async () => {
    const { refusal } = await resolve(`?ctx.org_id=${made.organization_id}`);
    assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field: "ctx" });
    assert.equal(refusal.violations[0]?.reason, "ctx.system_or_instance");
    const headers = { "x-idsvc-orgid": made.organization_id };
    for (const answer of [await resolve("", { headers }), await set({}, "", { headers })]) {
      assertRefused(answer.refusal, { code: 3, reason: "CONTEXT_INVALID", field: "ctx" });
    }
  });

  it("is the system for system callers only, over every protocol", async () => {
    const { setFeatures, resolveFeatures } = FeatureService.method;
    const ctx = { context: { case: "system" as const, value: true } };
    for (const protocol of protocols) {
      const read = await peer.call(protocol, resolveFeatures, { ctx }, { token });
      assertRefused(read, { code: 7, reason: "PERMISSION_MISSING" }, protocol);
      assert.deepEqual(read.metadata, { permission: "system.feature.read" });
      const write = await peer.call(protocol, setFeatures, { ctx, settings: {} }, { token });
      assertRefused(write, { code: 7, reason: "PERMISSION_MISSING" }, protocol);
      assert.deepEqual(write.metadata, { permission: "system.feature.write" });
      const options = { token: await systemToken() };
      const found = messageOf(await peer.call(protocol, resolveFeatures, { ctx }, options));
      assert.equal(found.details?.owner?.type, OwnerType.SYSTEM);
    }
  });
});

describe("features of the system", () => {
  it("count in the instance, unless it sets its own", async () => {
    await clear();
    const caller = { token: await systemToken() };
    const { details } = bodyOf(await set({ oidc_token_exchange: { set: true } }, system, caller));
    assert.deepEqual(details.owner, { type: "OWNER_TYPE_SYSTEM", id: "" });
    const [last] = (await eventsOf("system")).slice(-1);
    assert.equal(last?.type, "feature.system.oidc_token_exchange.set");
    assert.equal(last.editorId, "system:ops");
    assert.deepEqual((await settingsOf(system)).oidc_token_exchange, { value: true });
    assert.deepEqual((await settingsOf()).oidc_token_exchange, inherited(true));
    bodyOf(await set({ oidc_token_exchange: { set: false } }));
    assert.deepEqual((await settingsOf()).oidc_token_exchange, { value: false });
    await clear();
    assert.deepEqual(await settingsOf(), builtIn);
  });

  it("switch a service off in the instance, at once", async () => {
    await clear();
    const search = () => peer.rest("POST", "/resources/v3alpha/targets/_search", [], { token });
    const caller = { token: await systemToken() };
    bodyOf(await search());
    bodyOf(await set({ multitenancy_resources_api: { set: false } }, system, caller));
    assertRefused((await search()).refusal, { code: 9, reason: "FEATURE_DISABLED" });
    bodyOf(await set({ multitenancy_resources_api: { set: true } }));
    bodyOf(await search());
    await clear();
  });

  const now = Math.floor(Date.now() / 1000);
  const tokens: [string, JsonObject][] = [
    ["made for another issuer", { aud: "https://other.test" }],
    ["whose subject is another", { sub: "other" }],
    ["that has expired", { iat: now - 600, exp: now - 300 }],
    ["that lives longer than an hour", { iat: now - 7200, exp: now + 7200 }],
    ["that would live for two days", { iat: now, exp: now + 172800 }],
    ["from the future", { iat: now + 600, exp: now + 900 }],
  ];
  for (const [what, claims] of tokens) {
    it(`are refused to a token ${what}`, async () => {
      const { status, refusal } = await resolve(system, { token: await systemToken(claims) });
      assert.equal(status, 401);
      assertRefused(refusal, { code: 16, reason: "SYSTEM_TOKEN_INVALID" });
    });
  }

  it("are refused to a token of another key", async () => {
    const forged = await systemToken({}, otherKey.privateKey);
    const { refusal } = await resolve(system, { token: forged });
    assertRefused(refusal, { code: 16, reason: "SYSTEM_TOKEN_INVALID" });
  });

  it("are refused to a token of a caller that is not configured", async () => {
    const stranger = await systemToken({ iss: "other", sub: "other" });
    const { refusal } = await resolve(system, { token: stranger });
    assertRefused(refusal, { code: 16, reason: "TOKEN_INVALID" });
  });
});

describe("a service that is switched off", () => {
  it("refuses every call, while features can still be read and switched on", async () => {
    await clear();
    bodyOf(await set({ multitenancy_resources_api: { set: false } }));
    const { endpoints } = app.app;
    const guarded = endpoints.filter(({ rule }) => rule.feature === "multitenancy_resources_api");
    assert.ok(guarded.length >= 11);
    for (const { rule } of guarded) {
      const outcome = await peer.call("grpc", rule.method, {}, { token });
      assertRefused(outcome, { code: 9, reason: "FEATURE_DISABLED" }, rule.path);
      assert.deepEqual(outcome.metadata, { feature: "multitenancy_resources_api" });
    }
    assert.deepEqual((await settingsOf()).multitenancy_resources_api, { value: false });
    bodyOf(await set({ multitenancy_resources_api: { set: true } }));
    bodyOf(await peer.rest("POST", "/resources/v3alpha/targets/_search", [], { token }));
  });
});
