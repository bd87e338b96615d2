// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import {
  CreateSessionRequestSchema,
  SessionService,
} from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { goodPassword } from "../user/user-peer.ts";
import { startSessionPeer } from "./session-peer.ts";

const service = await startSessionPeer();
const { app, get, post, patch, remove, open, logIn, show, pass, deps } = service;
const { addLogin, addPerson, loginNameOf, sessionEvents, tokenOf } = service;
after(() => service[Symbol.asyncDispose]());

const missing = { code: 5, reason: "SESSION_NOT_FOUND" };
const denied = { code: 7, reason: "PERMISSION_MISSING" };
const tokenWrong = { code: 3, reason: "SESSION_TOKEN_INVALID", field: "session_token" };
const minute = 60_000;
const typesOf = async (id: string) => (await sessionEvents(id)).map(({ type }) => type);
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("creating a session", () => {
  it("answers 201 with the id and, this once, a token", async () => {
    const answer = bodyOf(await post("/sessions", {}), 201);
    const { details, session_id, session_token, challenges } = answer;
    assert.equal(session_id, details.id);
    assert.match(session_token, /^idsvc_st_[\w-]{43}$/);
    assert.equal(challenges, undefined);
    const instance = { type: "OWNER_TYPE_INSTANCE", id: app.made.instance_id };
    assert.deepEqual(details.resource_owner, instance);
    assert.deepEqual(await typesOf(session_id), ["session.added", "session.token.set"]);
    const shown = await show(session_id);
    assert.deepEqual(shown.details, details);
    assert.deepEqual(shown.factors, {});
    assert.equal(shown.creator, app.made.machine.user_id);
    assert.deepEqual([shown.expiration_date, shown.user_agent], [undefined, undefined]);
    assert.deepEqual(shown.metadata, {});
  });

  it("takes everything at once: checks, values, the user agent and a lifetime", async () => {
    const id = await addLogin({ data: { given_name: "Ada", family_name: "Lovelace" } });
    const login_name = await loginNameOf(id);
    const user_agent = {
      fingerprint_id: "fingerprint",
      ip: "192.0.2.1",
      description: "Firefox",
      header: { "user-agent": { values: ["Mozilla", "Gecko"] } },
    };
    const session = await open({
      checks: { user: { login_name }, password: { password: goodPassword } },
      metadata: { colour: base64("red"), empty: "" },
      user_agent,
      lifetime: "60.5s",
    });
    const shown = await show(session.id);
    const { user, password } = shown.factors;
    const { organization_id } = app.made;
    const verified_at = shown.creation_date;
    assert.deepEqual(user, {
      verified_at,
      id,
      login_name,
      display_name: "Ada Lovelace",
      organization_id,
    });
    assert.deepEqual(password, { verified_at });
    assert.deepEqual(shown.metadata, { colour: base64("red") });
    assert.deepEqual(shown.user_agent, user_agent);
    const lasts = Date.parse(shown.expiration_date) - Date.parse(shown.creation_date);
    assert.equal(lasts, 60_500);
    assert.deepEqual(await typesOf(session.id), [
      "session.added",
      "session.user.checked",
      "session.user_agent.set",
      "session.password.checked",
      "session.metadata.set",
      "session.lifetime.set",
      "session.token.set",
    ]);
  });

  it("is for who may write sessions on the instance", async () => {
    const { token } = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    await open({}, { token });
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    assertRefused((await post("/sessions", {}, { token: viewer.token })).refusal, denied);
    const owner = await service.addMember(app.made.organization_id, ["ORG_OWNER"]);
    assertRefused((await post("/sessions", {}, { token: owner.token })).refusal, denied);
  });

  const invalid: [string, JsonObject, string][] = [
    ["no lifetime", { lifetime: "0s" }, "session.lifetime"],
    ["a lifetime below nothing", { lifetime: "-1s" }, "session.lifetime"],
    ["a lifetime of more than 100 years", { lifetime: "3153600001s" }, "session.lifetime"],
    ["no name of a user", { checks: { user: {} } }, "session.checks.user.search"],
    [
      "an empty password",
      { checks: { password: { password: "" } } },
      "session.checks.password.password",
    ],
    ["no address", { user_agent: { ip: "localhost" } }, "session.user_agent.ip"],
    ["a value without name", { metadata: { "": "eA==" } }, 'session.metadata[""]'],
    [
      "a value that is too long",
      { metadata: { big: base64("x".repeat(10_001)) } },
      'session.metadata["big"]',
    ],
  ];
  for (const [what, body, field] of invalid) {
    it(`refuses ${what}`, async () => {
      const { refusal, status } = await post("/sessions", body);
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }

  it("refuses what only the service sets", async () => {
    for (const name of ["id", "details", "factors", "session_token", "creator"]) {
      const { status } = await post("/sessions", { [name]: "1" });
      assert.equal(status, 400, name);
    }
  });

  it("bears any name of a value, over every protocol alike", async () => {
    const metadata = { constructor: "eA==", "ä ": "eg==" };
    const session = await open({ metadata });
    assert.deepEqual((await show(session.id)).metadata, metadata);
    const named = fromJson(CreateSessionRequestSchema, { session: {} });
    assert.ok(named.session);
    const odd: [string, Uint8Array][] = [["__proto__", new Uint8Array([1])]];
    named.session.metadata = Object.fromEntries(odd);
    for (const protocol of ["grpc", "connect-proto", "grpc-web"] as const) {
      const outcome = await service.peer.call(
        protocol,
        SessionService.method.createSession,
        named,
        { token: app.token },
      );
      assert.ok(outcome.ok || outcome.code === 3, outcome.ok ? "" : outcome.message);
    }
  });
});

describe("patching a session", () => {
  it("gives a new token: the one before is dead (D55)", async () => {
    const user = await addLogin();
    const { id, token } = await logIn(user);
    const answer = bodyOf(await patch(`/sessions/${id}`, { metadata: { a: "eA==" } }));
    assert.notEqual(answer.session_token, token);
    const first = await get(`/users/${user}`, { token });
    assertRefused(first.refusal, { code: 16, reason: "TOKEN_INVALID" });
    bodyOf(await get(`/users/${user}`, { token: answer.session_token }));
    const path = `/sessions/${id}?session_token=`;
    assertRefused((await get(`${path}${token}`)).refusal, tokenWrong);
    bodyOf(await get(`${path}${answer.session_token}`));
    assert.equal(answer.details.sequence, (await show(id)).details.sequence);
  });

  it("changes and removes values, keeps the others, and records only what differs", async () => {
    const { id } = await open({ metadata: { a: "YQ==", b: "Yg==" } });
    bodyOf(await patch(`/sessions/${id}`, { metadata: { a: "", b: "Yg==", c: "Yw==", d: "" } }));
    assert.deepEqual((await show(id)).metadata, { b: "Yg==", c: "Yw==" });
    const set = (await sessionEvents(id)).filter(({ type }) => type === "session.metadata.set");
    assert.deepEqual(JSON.parse(Object(set[1]?.payload).metadata), { a: null, c: "Yw==" });
  });

  it("keeps a hundred values at most", async () => {
    const values = (count: number, prefix: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, "eA=="]));
    const { id } = await open({ metadata: values(100, "a") });
    const { refusal } = await patch(`/sessions/${id}`, { metadata: values(1, "b") });
    assertRefused(refusal, { code: 9, reason: "SESSION_METADATA_FULL" });
    bodyOf(await patch(`/sessions/${id}`, { metadata: { a0: "", b: "eA==" } }));
    const many = await patch(`/sessions/${id}`, { metadata: values(101, "c") });
    assertRefused(many.refusal, {
      code: 3,
      reason: "VALIDATION_FAILED",
      field: "session.metadata",
    });
  });

  it("sets the lifetime from now on", async () => {
    const { id } = await open({ lifetime: "60s" });
    pass(30_000);
    bodyOf(await patch(`/sessions/${id}`, { lifetime: "120s" }));
    pass(100_000);
    bodyOf(await get(`/sessions/${id}`));
    pass(20_001);
    assertRefused((await get(`/sessions/${id}`)).refusal, missing);
    assertRefused((await patch(`/sessions/${id}`, { lifetime: "120s" })).refusal, missing);
  });

  it("is for who may write sessions; an unknown one is absent", async () => {
    assertRefused((await patch("/sessions/404", {})).refusal, missing);
    const user = await addLogin();
    const [{ id, token }, other] = [await logIn(user), await logIn(user)];
    for (const [session, change] of [
      [id, { lifetime: "120s" }],
      [id, { metadata: { a: "cmVk" } }],
      [other.id, {}],
      ["404", {}],
    ] as const) {
      assertRefused((await patch(`/sessions/${session}`, change, { token })).refusal, denied);
    }
  });
});

describe("reading a session", () => {
  it("is for its user, who created it, who has its token, and who may read sessions there", async () => {
    const organization = await service.addOrganization();
    const user = await addLogin();
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const checks = { user: { user_id: user }, password: { password: goodPassword } };
    const { id, token } = await open({ checks }, { token: client.token });
    const path = `/sessions/${id}`;
    bodyOf(await get(path, { token }));
    bodyOf(await get(path, { token: await tokenOf(user) }));
    bodyOf(await get(path, { token: client.token }));
    const { organization_id } = app.made;
    const manager = await service.addMember(organization_id, ["ORG_USER_MANAGER"]);
    bodyOf(await get(path, { token: manager.token }));

    const absent = await get("/sessions/404", { token: manager.token });
    const stranger = await service.addMember(organization_id, []);
    const other = await service.addMember(organization, ["ORG_OWNER"]);
    for (const caller of [stranger, other, { token: await tokenOf(await addPerson()) }]) {
      const answer = await get(path, { token: caller.token });
      assertRefused(answer.refusal, missing);
      assert.deepEqual(answer.json, absent.json, "as an absent one (B3)");
      bodyOf(await get(`${path}?session_token=${token}`, { token: caller.token }));
      const wrong = await get(`${path}?session_token=x`, { token: caller.token });
      assertRefused(wrong.refusal, missing);
    }
    assertRefused((await get(`${path}?session_token=x`)).refusal, tokenWrong);
    const another = await open({});
    const foreign = await get(`${path}?session_token=${another.token}`);
    assertRefused(foreign.refusal, tokenWrong, "a token of another session");
  });

  it("without a user, is for who created it and who may read sessions on the instance", async () => {
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const { id } = await open({}, { token: client.token });
    bodyOf(await get(`/sessions/${id}`, { token: client.token }));
    bodyOf(await get(`/sessions/${id}`));
    const { token } = await service.addMember(app.made.organization_id, ["ORG_OWNER"]);
    assertRefused((await get(`/sessions/${id}`, { token })).refusal, missing);
    assertRefused((await remove(`/sessions/${id}`, { token })).refusal, missing);
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    bodyOf(await get(`/sessions/${id}`, { token: viewer.token }));
    assertRefused((await remove(`/sessions/${id}`, { token: viewer.token })).refusal, denied);
  });

  it("shows the names that the user has now", async () => {
    const id = await addLogin();
    const session = await logIn(id);
    assert.equal((await show(session.id)).factors.user.display_name, "Ada");
    bodyOf(await patch(`/users/${id}`, { username: "renamed", data: { given_name: "Grace" } }));
    const { login_name, display_name } = (await show(session.id)).factors.user;
    assert.equal(display_name, "Grace");
    assert.match(login_name, /^renamed@/);
  });
});

describe("deleting a session", () => {
  it("ends it: it is gone, and its token is dead", async () => {
    const user = await addLogin();
    const { id, token } = await logIn(user);
    const { details } = bodyOf(await remove(`/sessions/${id}`));
    assert.equal(details.id, id);
    assertRefused((await get(`/sessions/${id}`)).refusal, missing);
    assertRefused((await remove(`/sessions/${id}`)).refusal, missing);
    const dead = { code: 16, reason: "TOKEN_INVALID" };
    assertRefused((await get(`/users/${user}`, { token })).refusal, dead);
    const last = (await sessionEvents(id)).at(-1);
    assert.equal(last?.type, "session.terminated");
    assert.deepEqual(last?.payload, { ending: "deleted" });
  });

  it("is for its user, who has its token, and who may delete sessions there", async () => {
    const user = await addLogin();
    const own = await logIn(user);
    bodyOf(await remove(`/sessions/${own.id}`, { token: own.token }));
    const { organization_id } = app.made;
    const stranger = await service.addMember(organization_id, []);
    const second = await logIn(user);
    const path = `/sessions/${second.id}`;
    assertRefused((await remove(path, { token: stranger.token })).refusal, missing);
    const wrong = await remove(`${path}?session_token=x`, { token: stranger.token });
    assertRefused(wrong.refusal, missing);
    const viewer = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    assertRefused((await remove(path, { token: viewer.token })).refusal, denied);
    assertRefused((await remove(`${path}?session_token=x`)).refusal, tokenWrong);
    bodyOf(await remove(`${path}?session_token=${second.token}`, { token: stranger.token }));
    const third = await logIn(user);
    const manager = await service.addMember(organization_id, ["ORG_USER_MANAGER"]);
    bodyOf(await remove(`/sessions/${third.id}`, { token: manager.token }));
  });
});

describe("searching sessions", () => {
  const idsOf = async (filters: JsonObject[], query = "", options = {}) => {
    const found = bodyOf(await post(`/sessions/_search${query}`, filters, options));
    return found.result.map((each: { details: { id: string } }) => each.details.id);
  };

  it("filters by ids, user, creator, user agent and dates", async () => {
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const user = await addLogin();
    const a = await open({ lifetime: "600s" }, { token: client.token });
    pass(minute);
    const between = deps.now().toISOString();
    pass(minute);
    const b = await logIn(user, { user_agent: { fingerprint_id: "browser b" }, lifetime: "3600s" });
    const c = await logIn(user);
    const mine = { in_ids: { ids: [a.id, b.id, c.id] } };
    assert.deepEqual(await idsOf([mine]), [c.id, b.id, a.id]);
    assert.deepEqual(await idsOf([mine], "?query.asc=true"), [a.id, b.id, c.id]);
    assert.deepEqual(await idsOf([mine], "?query.limit=1&query.offset=1"), [b.id]);
    const byId = "?sorting_column=SESSION_FIELD_NAME_ID&query.asc=true";
    assert.deepEqual(await idsOf([mine], byId), [a.id, b.id, c.id]);
    assert.deepEqual(await idsOf([{ user_id: user }]), [c.id, b.id]);
    assert.deepEqual(await idsOf([{ creator: client.userId }]), [a.id]);
    assert.deepEqual(await idsOf([{ fingerprint_id: "browser b" }]), [b.id]);
    const dated = (member: string, method: string, date = between) =>
      idsOf([mine, { [member]: { date, method: `TIMESTAMP_Filter_METHOD_${method}` } }]);
    assert.deepEqual(await dated("creation_date", "LESS"), [a.id]);
    assert.deepEqual(await dated("creation_date", "GREATER_OR_EQUALS"), [c.id, b.id]);
    const { creation_date } = await show(b.id);
    assert.deepEqual(await dated("creation_date", "EQUALS", creation_date), [b.id]);
    assert.deepEqual(await dated("creation_date", "GREATER", creation_date), [c.id]);
    assert.deepEqual(await dated("creation_date", "LESS_OR_EQUALS", creation_date), [b.id, a.id]);
    const inAnHour = new Date(deps.now().getTime() + 30 * minute).toISOString();
    assert.deepEqual(await dated("expiration_date", "LESS", inAnHour), [a.id]);
    assert.deepEqual(await dated("expiration_date", "GREATER", inAnHour), [b.id]);
    pass(10 * minute);
    assert.deepEqual(await idsOf([mine]), [c.id, b.id], "what has expired is not there");
    const [shown] = bodyOf(await post("/sessions/_search", [{ in_ids: { ids: [b.id] } }])).result;
    assert.deepEqual(shown, await show(b.id));
  });

  it("shows what the caller may read: their own, what they created, and those of their organizations", async () => {
    const organization = await service.addOrganization();
    const { userId } = await service.addMember(organization, []);
    const user = await addLogin();
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const named = (user_id: string) => ({ checks: { user: { user_id } } });
    const inOther = await open(named(userId), { token: client.token });
    const inDefault = await logIn(user);
    const nobodys = await open({});
    const all = { in_ids: { ids: [inOther.id, inDefault.id, nobodys.id] } };
    const seen = (token: string, query = "") => idsOf([all], query, { token });
    assert.deepEqual(await seen(app.token), [nobodys.id, inDefault.id, inOther.id]);
    assert.deepEqual(await seen(inDefault.token), [inDefault.id]);
    const owner = await service.addMember(organization, ["ORG_OWNER"]);
    assert.deepEqual(await seen(owner.token), [inOther.id]);
    const context = `?ctx.org_id=${organization}`;
    assert.deepEqual(await seen(app.token, context), [inOther.id]);
    const nobody = await addCaller(app, []);
    assert.deepEqual(await seen(nobody.token), []);
    const { total_result } = bodyOf(
      await post("/sessions/_search", [all], { token: owner.token }),
    ).details;
    assert.equal(total_result, "1");
  });
});
