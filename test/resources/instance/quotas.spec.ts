// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { createUsage } from "../../../src/resources/instance/index.ts";
import { human, importPeer, newName } from "../../management/import-peer.ts";
import { basic, paths, startOidc } from "../../support/oidc.ts";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { protocols } from "../../support/protocols.ts";
import { assertRefused, restRefusal } from "../../support/refusal.ts";
import { systemCaller } from "../../support/system-caller.ts";

const operator = systemCaller();
const service = await startOidc({ env: operator.env });
const { app, peer, post, get, now, addMachine, addApi } = service;
const { instance_id: id } = app.made;
after(() => service[Symbol.asyncDispose]());

const asSystem = async (method: string, path: string, body?: JsonValue) => {
  const token = await operator.tokenFor(app.made.issuer, now());
  return peer.rest(method, `/resources/v3alpha${path}`, body, { token });
};
const limit = async (quotas: JsonObject) =>
  bodyOf(await asSystem("POST", `/instances/${id}/_limit`, { quotas }));
const known = async () => bodyOf(await asSystem("GET", `/instances/${id}`)).instance.instance;
const usage = async () => {
  const { users, organizations, requests_today, tokens_today } = (await known()).usage;
  return [users, organizations, requests_today, tokens_today].map(Number);
};
const addUser = () =>
  post("/users", { username: newName("user"), schema_id: "machine", data: { name: "Robot" } });
const addOrganization = () => post("/organizations", { name: uniqueName("organization") });
const dayMs = 86_400_000;
const nextDay = () => service.pass(dayMs);
const exhausted = (quota: string, most: number) => ({
  code: 8,
  reason: "QUOTA_EXHAUSTED",
  metadata: { quota, most: String(most) },
});

function assertExhausted(answer: Parameters<typeof restRefusal>[0], quota: string, most: number) {
  const { metadata, ...is } = exhausted(quota, most);
  const refusal = restRefusal(answer);
  assertRefused(refusal, is);
  assert.deepEqual([refusal.metadata["quota"], refusal.metadata["most"]], Object.values(metadata));
  assert.equal(answer.status, 429);
}

describe("quotas of an instance", () => {
  it("are set as a whole, told, and taken away", async () => {
    assert.equal((await known()).limits.quotas, undefined);
    await limit({ users: "100", tokens_per_day: "7" });
    assert.deepEqual((await known()).limits.quotas, { users: "100", tokens_per_day: "7" });
    await limit({ organizations: "9" });
    assert.deepEqual((await known()).limits, { block: false, quotas: { organizations: "9" } });
    await limit({});
    assert.deepEqual((await known()).limits, { block: false });
  });

  it("are set by system callers alone, within what can be counted", async () => {
    const own = await post(`/instances/${id}/_limit`, { quotas: { users: "1" } });
    assertRefused(restRefusal(own), { code: 7, reason: "PERMISSION_MISSING" });
    const refused = await asSystem("POST", `/instances/${id}/_limit`, {
      quotas: { users: "1000000000001" },
    });
    assertRefused(restRefusal(refused), {
      code: 3,
      reason: "VALIDATION_FAILED",
      field: "limits.quotas.users",
    });
  });

  it("of users hold for as many as come at once, over every protocol", async () => {
    const [users = 0] = await usage();
    await limit({ users: String(users + 3) });
    const answers = await Promise.all(Array.from({ length: 12 }, addUser));
    assert.equal(answers.filter(({ status }) => status === 201).length, 3);
    for (const answer of answers) {
      if (answer.status !== 201) assertExhausted(answer, "users", users + 3);
    }
    for (const protocol of protocols) {
      const made = await peer.call(
        protocol,
        UserService.method.createUser,
        { user: { username: newName("user"), schemaId: "machine", data: { name: "Robot" } } },
        { token: app.token },
      );
      const { metadata: _, ...is } = exhausted("users", users + 3);
      assertRefused(made, is);
    }
    const { result } = bodyOf(await post("/users/_search?query.limit=1", []));
    bodyOf(await addOrganization(), 201);
    await limit({ users: String(users + 4) });
    bodyOf(await addUser(), 201);
    assert.equal(result.length, 1);
    await limit({});
  });

  it("of users hold for imports too: a record beyond is refused alone", async () => {
    const imports = importPeer(service);
    const [users = 0] = await usage();
    await limit({ users: String(users + 1) });
    const orgId = newName("organization");
    const [first, second] = [newName("ada"), newName("bob")];
    const wanted = { orgId, org: { name: orgId }, humanUsers: [human(first), human(second)] };
    const { errors = [] } = bodyOf(
      await imports.call("POST", "/import", { dataOrgs: { orgs: [wanted] } }),
    );
    assert.equal(errors.length, 1);
    assert.match(JSON.stringify(errors), /the instance may have \d+ users/);
    assert.equal((await usage())[0], users + 1);
    await limit({});
  });

  it("of organizations", async () => {
    const [, organizations = 0] = await usage();
    await limit({ organizations: String(organizations) });
    assertExhausted(await addOrganization(), "organizations", organizations);
    await limit({ organizations: String(organizations + 1) });
    const made = bodyOf(await addOrganization(), 201);
    assertExhausted(await addOrganization(), "organizations", organizations + 1);
    bodyOf(await service.remove(`/organizations/${made.details.id}`));
    bodyOf(await addOrganization(), 201);
    await limit({});
  });
});

describe("quotas of a day", () => {
  const beyond = { code: 8, reason: "DAILY_QUOTA_EXHAUSTED" };
  const read = () => get(`/users/${app.made.machine.user_id}`);

  it("of requests count callers who have proven themselves, until midnight", async () => {
    await limit({ requests_per_day: "5" });
    nextDay();
    for (let call = 0; call < 3; call++) {
      const stranger = await get("/users/1", { token: "wrong" });
      assertRefused(restRefusal(stranger), { code: 16, reason: "TOKEN_INVALID" });
    }
    for (let call = 0; call < 5; call++) bodyOf(await read());
    const refused = await read();
    assertRefused(restRefusal(refused), beyond);
    const untilMidnight = (dayMs - (now().getTime() % dayMs)) / 1_000;
    assert.ok(Math.abs(Number(refused.headers["retry-after"]) - untilMidnight) < 60);
    assert.equal((await known()).limits.quotas.requests_per_day, "5", "system callers go on");
    nextDay();
    bodyOf(await read());
    await limit({});
  });

  it("of requests count what the endpoints of OAuth answer, in the words of OAuth", async () => {
    const machine = await addMachine();
    const api = await addApi("BASIC");
    const form = { grant_type: "client_credentials", scope: "openid" };
    await limit({ requests_per_day: "3" });
    nextDay();
    const issued = await service.send(paths.token, form, basic(machine));
    assert.equal(issued.status, 200);
    const wrong = await service.send(paths.token, form, basic({ ...machine, secret: "wrong" }));
    assert.equal(wrong.status, 401);
    const token = String(issued.body["access_token"]);
    for (let call = 0; call < 2; call++) {
      const told = await service.send(paths.introspect, { token }, basic(api));
      assert.equal(told.status, 200);
    }
    const refused = await service.send(paths.introspect, { token }, basic(api));
    assert.deepEqual([refused.status, refused.body["error"]], [429, "temporarily_unavailable"]);
    await limit({});
  });

  it("of tokens count those that were issued", async () => {
    const machine = await addMachine();
    const form = { grant_type: "client_credentials", scope: "openid" };
    await limit({ tokens_per_day: "2" });
    nextDay();
    for (let call = 0; call < 2; call++) {
      assert.equal((await service.send(paths.token, form, basic(machine))).status, 200);
    }
    const refused = await service.send(paths.token, form, basic(machine));
    assert.deepEqual([refused.status, refused.body["error"]], [429, "temporarily_unavailable"]);
    bodyOf(await read());
    await limit({});
  });

  it("count over replicas, and over a start anew", async () => {
    const { db } = app.kernel;
    await limit({ requests_per_day: "4" });
    nextDay();
    const fail = (error: unknown) => assert.fail(String(error));
    const another = createUsage(
      { db: Object.create(db, { processName: { value: "process/another" } }), now },
      fail,
    );
    for (let call = 0; call < 3; call++) await another.count("requests", id);
    await another[Symbol.asyncDispose]();
    bodyOf(await read());
    assertRefused(restRefusal(await read()), beyond);
    const fresh = createUsage(
      { db: Object.create(db, { processName: { value: "process/fresh" } }), now },
      fail,
    );
    // What the process that serves has counted is written within a second.
    const isSpent = () =>
      Promise.resolve(fresh.require("requests", id)).then(
        () => false,
        () => true,
      );
    while (!(await isSpent())) await delay(20);
    await fresh[Symbol.asyncDispose]();
    assert.deepEqual((await usage()).slice(2), [4, 0]);
    await limit({});
  });
});
