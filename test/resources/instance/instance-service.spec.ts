// Run: shared, store
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { SignJWT } from "jose";
import { addCaller } from "../../support/app.ts";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const publicKey = String(keys.publicKey.export({ type: "spki", format: "pem" }));
const callers = JSON.stringify({ operator: publicKey });
const service = await startPeer({ env: { IDSVC_SYSTEM_CALLERS: callers } });
const { app, peer, get, post } = service;
after(() => service[Symbol.asyncDispose]());

const tokenFor = (audience: string) =>
  new SignJWT()
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer("operator")
    .setSubject("operator")
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(keys.privateKey);
const token = await tokenFor(app.made.issuer);
const asSystem = (method: string, path: string, body?: JsonValue) =>
  peer.rest(method, `/resources/v3alpha${path}`, body, { token });

let domains = 0;
const newDomain = () => `i${domains++}.tenant.test`;
const machine = { machine: { username: "owner", name: "Owner" } };
const wanted = (more: JsonObject = {}) => ({
  name: uniqueName("instance"),
  domain: newDomain(),
  organization: { name: "First" },
  ...machine,
  ...more,
});
const create = async (more: JsonObject = {}) => {
  const body = wanted(more);
  const made = bodyOf(await asSystem("POST", "/instances", body), 201);
  return { ...made, id: String(made.details.id), body, host: String(made.domain) };
};
const instanceOf = async (id: string) => bodyOf(await asSystem("GET", `/instances/${id}`)).instance;
const notFound = { code: 5, reason: "INSTANCE_NOT_FOUND" };

describe("a search of instances on a fresh service", () => {
  it("tells the sequence and the time of what changed last", async () => {
    const { details } = bodyOf(await asSystem("POST", "/instances/_search", []));
    assert.notEqual(details.processed_sequence, "0");
    assert.ok(Date.now() - Date.parse(details.timestamp) < 60_000);
  });
});

describe("creating an instance", () => {
  it("makes one that answers at its domain at once, owned by a machine with a token", async () => {
    const made = await create();
    const owner = { type: "OWNER_TYPE_SYSTEM", id: "" };
    assert.deepEqual(made.details.resource_owner, owner);
    assert.match(made.personal_access_token, /^idsvc_pat_/);
    const at = { token: made.personal_access_token, host: made.host };
    const home = bodyOf(await get(`/organizations/${made.organization_id}`, at)).organization;
    assert.equal(home.organization.name, "First");
    assert.equal(home.organization.domain, `first.${made.host}`);
    const self = bodyOf(await get(`/users/${made.user_id}`, at)).user;
    assert.deepEqual(self.user.login_names, [`owner@first.${made.host}`]);
    const { details, state, instance } = await instanceOf(made.id);
    assert.deepEqual([details.id, state], [made.id, "INSTANCE_STATE_RUNNING"]);
    assert.deepEqual(instance, {
      name: made.body.name,
      domains: [made.host],
      default_organization_id: made.organization_id,
      limits: { block: false },
      version: instance.version,
      usage: { users: "2", organizations: "1", requests_today: "0", tokens_today: "0" },
    });
    assert.match(instance.version, /^\d+\.\d+\.\d+/);
  });

  it("makes one that a person owns", async () => {
    const human = {
      username: "ada",
      email: "ada@example.com",
      given_name: "Ada",
      family_name: "L",
      password: "correct horse battery",
    };
    const { id, user_id, personal_access_token } = await create({
      machine: undefined as never,
      human,
    });
    assert.equal(personal_access_token, undefined);
    const { state } = await app.kernel.events.load(
      (await import("../../../src/resources/user/index.ts")).user,
      id,
      user_id,
    );
    assert.deepEqual(
      [state?.username, state?.email?.isVerified, state?.authenticators.map(({ kind }) => kind)],
      ["ada", true, ["password"]],
    );
  });

  it("D39: its tokens hold on no other instance, nor those of another on it", async () => {
    const made = await create();
    const abroad = await get(`/organizations/${app.made.organization_id}`, {
      token: made.personal_access_token,
    });
    assert.equal(abroad.status, 401);
    const here = await get(`/organizations/${made.organization_id}`, { host: made.host });
    assert.equal(here.status, 401);
    assertRefused(here.refusal, { code: 16, reason: "TOKEN_INVALID" });
  });

  it("is refused for a domain that leads to another instance, in any case", async () => {
    const { host } = await create();
    const { status, refusal } = await asSystem(
      "POST",
      "/instances",
      wanted({ domain: host.toUpperCase() }),
    );
    assert.equal(status, 409);
    assertRefused(refusal, { code: 6, reason: "INSTANCE_DOMAIN_TAKEN" });
  });

  const refused: [string, JsonObject, string][] = [
    ["without a name", { name: "" }, "instance.name"],
    ["with a domain that is none", { domain: "a b" }, "instance.domain"],
    ["without an owner", { machine: undefined as never }, "instance.owner"],
    ["without an organization", { organization: undefined as never }, "instance.organization"],
  ];
  for (const [what, more, field] of refused) {
    it(`is refused ${what}`, async () => {
      const { refusal } = await asSystem("POST", "/instances", wanted(more));
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("is refused to everybody but system callers", async () => {
    const { status, refusal } = await post("/instances", wanted());
    assert.equal(status, 403);
    assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
  });
});

describe("an instance", () => {
  it("is renamed; the same name again is no event", async () => {
    const { id } = await create();
    const { details } = bodyOf(await asSystem("PATCH", `/instances/${id}`, { name: "Renamed" }));
    assert.equal((await instanceOf(id)).instance.name, "Renamed");
    assert.deepEqual(bodyOf(await asSystem("PATCH", `/instances/${id}`, { name: "Renamed" })), {
      details,
    });
    assertRefused((await asSystem("PATCH", "/instances/404", { name: "x" })).refusal, notFound);
  });

  it("is gone once it is deleted, and its domain is free", async () => {
    const { id, host, personal_access_token } = await create();
    bodyOf(await asSystem("DELETE", `/instances/${id}`));
    assertRefused((await asSystem("GET", `/instances/${id}`)).refusal, notFound);
    assertRefused((await asSystem("DELETE", `/instances/${id}`)).refusal, notFound);
    const { refusal } = await get("/organizations/instance_default", {
      token: personal_access_token,
      host,
    });
    assertRefused(refusal, { code: 5, reason: "INSTANCE_UNKNOWN_HOST" });
    const again = await create({ domain: host });
    const { status } = await get(`/users/${again.user_id}`, { token: personal_access_token, host });
    assert.equal(status, 401);
  });

  it("is found by id, name, domain and state", async () => {
    const name = uniqueName("found");
    const [one, two] = [await create({ name: `${name} a` }), await create({ name: `${name} b` })];
    bodyOf(await asSystem("POST", `/instances/${two.id}/_limit`, { block: true }));
    const search = async (...filters: JsonObject[]) => {
      const query = "query.asc=true&sorting_column=INSTANCE_FIELD_NAME_NAME";
      const found = bodyOf(await asSystem("POST", `/instances/_search?${query}`, filters));
      return found.result.map(({ details }: { details: { id: string } }) => details.id);
    };
    const named = { name: { name, method: "TEXT_FILTER_METHOD_STARTS_WITH" } };
    assert.deepEqual(await search(named), [one.id, two.id]);
    assert.deepEqual(await search(named, { state: { state: "INSTANCE_STATE_STOPPED" } }), [two.id]);
    assert.deepEqual(await search(named, { state: { state: "INSTANCE_STATE_RUNNING" } }), [one.id]);
    assert.deepEqual(await search({ domain: { domain: one.host.toUpperCase() } }), [one.id]);
    assert.deepEqual(await search({ in_ids: { ids: [two.id] } }), [two.id]);
  });
});

describe("an instance tells those who administer it", () => {
  it("what it is limited to and what it uses, as system callers read it", async () => {
    const { id, host, personal_access_token: owner } = await create();
    const limits = { audit_log_retention: "86400s", quotas: { users: "7", organizations: "2" } };
    bodyOf(await asSystem("POST", `/instances/${id}/_limit`, limits));
    const { instance } = bodyOf(await get("/instances/own", { token: owner, host }));
    assert.deepEqual(instance, await instanceOf(id));
    assert.deepEqual(instance.instance.limits, { block: false, ...limits });
    assert.equal(instance.instance.usage.users, "2");
  });

  it("and nobody else, nor anything of another instance", async () => {
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const read = bodyOf(await get("/instances/own", { token: viewer.token })).instance;
    assert.equal(read.details.id, app.made.instance_id);
    const ofOrganization = await service.addMember(app.made.organization_id, ["ORG_OWNER"]);
    const { status, refusal } = await get("/instances/own", { token: ofOrganization.token });
    assert.equal(status, 403);
    assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
    const { host } = await create();
    assertRefused((await get("/instances/own", { token: viewer.token, host })).refusal, {
      code: 16,
      reason: "TOKEN_INVALID",
    });
  });
});

describe("limiting an instance", () => {
  it("changes what is given and leaves the rest", async () => {
    const { id } = await create();
    const limit = (limits: JsonObject) => asSystem("POST", `/instances/${id}/_limit`, limits);
    bodyOf(await limit({ audit_log_retention: "86400s" }));
    bodyOf(await limit({ block: true }));
    const limits = { block: true, audit_log_retention: "86400s" };
    assert.deepEqual((await instanceOf(id)).instance.limits, limits);
    bodyOf(await limit({ reset_audit_log_retention: true }));
    assert.deepEqual((await instanceOf(id)).instance.limits, { block: true });
    const { details } = bodyOf(await limit({ reset_audit_log_retention: true }));
    assert.deepEqual(bodyOf(await limit({ block: true })).details, details);
    const both = { audit_log_retention: "86400s", reset_audit_log_retention: true };
    for (const wrong of [{}, both, { reset_audit_log_retention: false }]) {
      assertRefused((await limit(wrong)).refusal, { code: 3, reason: "VALIDATION_FAILED" });
    }
    assertRefused(
      (await asSystem("POST", "/instances/404/_limit", { block: true })).refusal,
      notFound,
    );
  });

  it("blocks every call but those of system callers, and lets them go on", async () => {
    const { id, host, personal_access_token: owner } = await create();
    const read = (bearer: string) =>
      get("/organizations/instance_default", { token: bearer, host });
    bodyOf(await read(owner));
    bodyOf(await asSystem("POST", `/instances/${id}/_limit`, { block: true }));
    assert.equal((await instanceOf(id)).state, "INSTANCE_STATE_STOPPED");
    const { status, refusal } = await read(owner);
    assert.equal(status, 429);
    assertRefused(refusal, { code: 8, reason: "INSTANCE_BLOCKED" });
    const system = await tokenFor(`http://${host}:8080`);
    const features = await peer.rest("GET", "/settings/v3alpha/features", undefined, {
      token: system,
      host,
    });
    assert.notEqual(features.status, 429);
    bodyOf(await asSystem("POST", `/instances/${id}/_limit`, { block: false }));
    bodyOf(await read(owner));
  });

  it("limits several at once, or none of them", async () => {
    const made = [await create(), await create()];
    const all = made.map(({ id }) => ({ id, block: true }));
    const unknown = [...all, { id: "404", block: true }];
    assertRefused((await asSystem("POST", "/instances/_bulk_limit", unknown)).refusal, notFound);
    for (const { id } of made) assert.equal((await instanceOf(id)).instance.limits.block, false);
    const { details } = bodyOf(await asSystem("POST", "/instances/_bulk_limit", all));
    assert.deepEqual(
      details.map(({ id }: { id: string }) => id),
      made.map(({ id }) => id),
    );
    for (const { id } of made) assert.equal((await instanceOf(id)).instance.limits.block, true);
    const twice = [all[0] ?? {}, all[0] ?? {}];
    assertRefused((await asSystem("POST", "/instances/_bulk_limit", twice)).refusal, {
      code: 3,
      reason: "INSTANCE_REPEATED",
      field: "limits[1].id",
    });
  });
});

describe("a system caller", () => {
  it("names any instance in ctx (B2)", async () => {
    const { id, host } = await create();
    for (const ctx of [`ctx.instance_id=${id}`, `ctx.instance_domain=${host}`]) {
      const path = `/settings/v3alpha/features?${ctx}`;
      const body = { multitenancy_settings: { set: false } };
      bodyOf(await peer.rest("PATCH", path, body, { token }));
      const { settings } = bodyOf(await peer.rest("GET", path, undefined, { token }));
      assert.equal(settings.multitenancy_settings.value, false);
    }
    const refused = await peer.rest(
      "GET",
      `/settings/v3alpha/features?ctx.instance_id=${id}`,
      undefined,
      { token: app.token },
    );
    assertRefused(refused.refusal, { code: 5, reason: "INSTANCE_NOT_FOUND" });
  });
});
