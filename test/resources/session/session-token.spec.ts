// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { eq } from "../../../src/storage/drizzle.ts";
import { events, secrets } from "../../../src/storage/kernel-tables.ts";
import { verifyProjections } from "../../../src/projection/rebuild.ts";
import { sweepSessions } from "../../../src/resources/session/end-sessions.ts";
import { sessionMetadata, sessions } from "../../../src/resources/session/projection.ts";
import { addSecondInstance } from "../../api/abuse.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { goodPassword } from "../user/user-peer.ts";
import { startSessionPeer } from "./session-peer.ts";

const service = await startSessionPeer();
const { app, get, post, patch, remove, open, logIn, pass, deps, addLogin, addPerson } = service;
const { sessionEvents } = service;
after(() => service[Symbol.asyncDispose]());

const dead = { code: 16, reason: "TOKEN_INVALID" };
const missing = { code: 5, reason: "SESSION_NOT_FOUND" };
const { db } = app.kernel;
const sweep = sweepSessions(deps);

async function differing(): Promise<string[]> {
  const found = await verifyProjections(app.kernel, app.kernel.projectionTables);
  return [...found].filter(([, rows]) => rows > 0).map(([table, rows]) => `${table}: ${rows}`);
}
const rowsOf = async (id: string) => {
  const t = db.table(sessions);
  return db.read.select().from(t).where(eq(t.id, id));
};
const secretsOf = async (id: string) => {
  const t = db.table(secrets);
  const rows = await db.read.select().from(t).where(eq(t.ownerId, id));
  return rows.map(({ kind }) => kind).sort();
};

describe("the token of a session", () => {
  it("is a bearer token of the user once something of theirs was checked (B5)", async () => {
    const id = await addLogin();
    const named = await open({ checks: { user: { user_id: id } } });
    assertRefused((await get(`/users/${id}`, { token: named.token })).refusal, dead);
    const checks = { password: { password: goodPassword } };
    const answer = bodyOf(await patch(`/sessions/${named.id}`, { checks }));
    const token = answer.session_token;
    assert.equal(bodyOf(await get(`/users/${id}`, { token })).user.details.id, id);
    assertRefused((await post("/sessions", {}, { token })).refusal, {
      code: 7,
      reason: "PERMISSION_MISSING",
    });
    const own = await open({});
    assertRefused((await get(`/users/${id}`, { token: own.token })).refusal, dead);
    const forged = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
    assertRefused((await get(`/users/${id}`, { token: forged })).refusal, dead);
  });

  it("carries what the user may do, as of each call (B7)", async () => {
    const id = await addLogin();
    const { token } = await logIn(id);
    const body = { user_id: id, roles: ["IAM_OWNER"], ctx: { instance_id: app.made.instance_id } };
    const denied = await post("/organizations", { name: "denied" }, { token });
    assertRefused(denied.refusal, { code: 7, reason: "PERMISSION_MISSING" });
    bodyOf(await post("/memberships", body), 201);
    bodyOf(await post("/organizations", { name: "allowed" }, { token }), 201);
  });

  it("is in no event and no row: only a digest of it is", async () => {
    const { id, token } = await logIn(await addLogin());
    const t = db.table(events);
    const logged = await db.read.select({ payload: t.payload }).from(t);
    assert.ok(!JSON.stringify(logged).includes(token.slice(9)));
    const rows = JSON.stringify(await rowsOf(id), (_, value) =>
      typeof value === "bigint" ? String(value) : value,
    );
    assert.ok(!rows.includes(token.slice(9)));
    assert.deepEqual(await secretsOf(id), ["session_token"]);
  });

  it("holds on its own instance alone (D39)", async () => {
    const other = await addSecondInstance(app, "i2.test");
    const user = await addLogin();
    const { token } = await logIn(user);
    const path = `/resources/v3alpha/users/${user}`;
    const at = async (host: string) => {
      const headers = { host, authorization: `Bearer ${token}` };
      return (await service.peer.send({ method: "GET", path, headers })).status;
    };
    assert.deepEqual([await at("localhost"), await at(other.host)], [200, 401]);
  });

  it("ends with the lifetime, at the very moment", async () => {
    const user = await addLogin();
    const { token } = await logIn(user, { lifetime: "60s" });
    pass(59_000);
    bodyOf(await get(`/users/${user}`, { token }));
    pass(1_001);
    assertRefused((await get(`/users/${user}`, { token })).refusal, dead);
  });

  it("counts only while the organization of the user is active", async () => {
    const organization = await service.addOrganization();
    const user = await personOf(organization);
    const { token } = await logIn(user);
    bodyOf(await get(`/users/${user}`, { token }));
    bodyOf(await post(`/organizations/${organization}/_deactivate`));
    assertRefused((await get(`/users/${user}`, { token })).refusal, dead);
    const checks = { user: { user_id: user }, password: { password: goodPassword } };
    const refused = await post("/sessions", { checks });
    assertRefused(refused.refusal, { code: 3, reason: "INVALID_CREDENTIALS" });
  });
});

async function personOf(organization: string): Promise<string> {
  const made = await post(`/users?ctx.org_id=${organization}`, {
    username: `user ${organization}`,
    authenticators: { password: { password: goodPassword } },
  });
  return bodyOf(made, 201).details.id;
}

describe("all sessions of a user end at once", () => {
  const endings: [string, (user: string, organization: string) => Promise<unknown>][] = [
    ["they are deactivated", (user) => post(`/users/${user}/_deactivate`)],
    ["they are locked", (user) => post(`/users/${user}/_lock`)],
    ["they are deleted", (user) => remove(`/users/${user}`)],
    [
      "their password is changed",
      (user) => post(`/users/${user}/password`, { password: "another long pass phrase" }),
    ],
    ["their password is removed", (user) => remove(`/users/${user}/password`)],
    [
      "their organization is deleted",
      (_, organization) => remove(`/organizations/${organization}`),
    ],
  ];
  for (const [when, end] of endings) {
    it(`when ${when} (B7)`, async () => {
      const organization = await service.addOrganization();
      const user = await personOf(organization);
      const user_agent = { fingerprint_id: "f", ip: "192.0.2.9" };
      const metadata = { a: "YQ==" };
      const first = await logIn(user, { lifetime: "600s", user_agent, metadata });
      const second = await open({});
      bodyOf(await patch(`/sessions/${second.id}`, { checks: { user: { user_id: user } } }));
      const other = await logIn(await addLogin());
      bodyOf(Object(await end(user, organization)));

      assertRefused((await get(`/users/${user}`, { token: first.token })).refusal, dead);
      for (const { id } of [first, second]) {
        assertRefused((await get(`/sessions/${id}`)).refusal, missing);
        assertRefused((await patch(`/sessions/${id}`, { lifetime: "600s" })).refusal, missing);
        assertRefused((await remove(`/sessions/${id}`)).refusal, missing);
      }
      const found = bodyOf(await post("/sessions/_search", [{ user_id: user }]));
      assert.deepEqual([found.result, found.details.total_result], [[], "0"]);
      bodyOf(await get(`/sessions/${other.id}`));
      assert.deepEqual(await differing(), []);

      await sweep(100);
      const last = (await sessionEvents(first.id)).at(-1);
      assert.equal(last?.type, "session.terminated");
      assert.deepEqual(last?.payload, { ending: "user" });
      assert.deepEqual([await rowsOf(first.id), await rowsOf(second.id)], [[], []]);
      assert.deepEqual(await differing(), []);
    });
  }

  it("and come not back when they are activated again", async () => {
    const user = await addLogin();
    const { id, token } = await logIn(user);
    bodyOf(await post(`/users/${user}/_deactivate`));
    bodyOf(await post(`/users/${user}/_activate`));
    assertRefused((await get(`/users/${user}`, { token })).refusal, dead);
    assertRefused((await get(`/sessions/${id}`)).refusal, missing);
    bodyOf(await get(`/sessions/${(await logIn(user)).id}`));
  });
});

describe("sweeping sessions", () => {
  it("removes what has expired with everything that is its, up to a limit", async () => {
    await sweep(1_000);
    const user = await addPerson();
    const metadata = { a: "YQ==" };
    const made: { id: string }[] = [];
    for (let turn = 0; turn < 25; turn++) made.push(await open({ lifetime: "1s", metadata }));
    const kept = await open({ lifetime: "600s" });
    const unlimited = await open({ checks: { user: { user_id: user } } });
    pass(1_001);
    assert.equal(await sweep(22), 22);
    assert.equal(await sweep(22), 3);
    assert.equal(await sweep(22), 0);
    for (const { id } of made) {
      const last = (await sessionEvents(id)).at(-1);
      assert.deepEqual(last?.payload, { ending: "expired" });
      assert.deepEqual(await rowsOf(id), []);
      assert.deepEqual(await secretsOf(id), []);
    }
    const t = db.table(sessionMetadata);
    const left = await db.read.select().from(t);
    assert.deepEqual(
      left.filter(({ sessionId }) => made.some(({ id }) => id === sessionId)),
      [],
    );
    for (const { id } of [kept, unlimited]) bodyOf(await get(`/sessions/${id}`));
    assert.deepEqual(await differing(), []);
  });

  it("finds together what it would alone", async () => {
    for (let turn = 0; turn < 10; turn++) await open({ lifetime: "1s" });
    pass(1_001);
    await Promise.all([sweep(100), sweep(100)]);
    assert.equal(await sweep(100), 0);
  });
});

describe("what tells of a person in a session", () => {
  const user_agent = {
    fingerprint_id: "secret fingerprint",
    ip: "192.0.2.77",
    description: "secret browser",
    header: { "user-agent": { values: ["secret agent"] } },
  };
  const metadata = { name: Buffer.from("secret name").toString("base64") };
  const told = async (id: string) => {
    const all = await sessionEvents(id);
    return JSON.stringify(all.map(({ payload }) => payload));
  };
  const secretWords = ["secret fingerprint", "192.0.2.77", "secret browser", metadata.name];

  it("is in the log only as ciphertext, and is erased with the user (C7)", async () => {
    const user = await addLogin();
    const { id } = await logIn(user, { user_agent, metadata });
    const t = db.table(events);
    const rows = await db.read.select().from(t).where(eq(t.aggregateId, id));
    const stored = JSON.stringify(rows.map(({ payload }) => payload));
    for (const word of secretWords) assert.ok(!stored.includes(word), word);
    for (const word of secretWords) assert.ok((await told(id)).includes(word), word);
    assert.deepEqual(await secretsOf(id), ["session_token"]);
    bodyOf(await remove(`/users/${user}`));
    for (const word of secretWords) assert.ok(!(await told(id)).includes(word), word);
    const [row] = await rowsOf(id);
    assert.deepEqual(row?.userAgent, { ip: "", description: "", header: "" });
  });

  it("is erased with the session where no user was known", async () => {
    const { id } = await open({ user_agent, metadata });
    assert.deepEqual(await secretsOf(id), ["personal_key", "session_token"]);
    for (const word of secretWords) assert.ok((await told(id)).includes(word), word);
    bodyOf(await remove(`/sessions/${id}`));
    assert.deepEqual(await secretsOf(id), []);
    for (const word of secretWords) assert.ok(!(await told(id)).includes(word), word);
  });
});
