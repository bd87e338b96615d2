// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonValue } from "@bufbuild/protobuf";
import { addPersonNamed, authorizeUrl, signIn } from "../../support/login.ts";
import {
  basic,
  type Body,
  type MadeClient,
  paths,
  redirectUri,
  startOidc,
} from "../../support/oidc.ts";
import { bodyOf } from "../../support/peer.ts";
import { answerOf, type UserAgent, userAgent } from "../../support/user-agent.ts";

const peer = await startOidc({ env: { IDSVC_TRUSTED_PROXIES: "127.0.0.1,::1" } });
after(() => peer[Symbol.asyncDispose]());

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const safari =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
const browserAt = (address: string, name: string) =>
  userAgent(peer.issuer, new Map(), { "x-forwarded-for": address, "user-agent": name });

const client: MadeClient = await peer.addClient({
  redirect_uris: [redirectUri],
  response_types: ["OIDC_RESPONSE_TYPE_CODE"],
  grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
  app_type: "OIDC_APP_TYPE_WEB",
  auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
});
const scope = "openid offline_access";

async function tokensBy(agent: UserAgent): Promise<Body> {
  const code = answerOf(agent.last).get("code") ?? "";
  const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
  const { status, body, text } = await peer.send(paths.token, form, basic(client));
  assert.equal(status, 200, text);
  return body;
}

/** Logs in at the client; its tokens. `prompt=login` asks although the browser is signed in. */
async function enter(agent: UserAgent, loginName: string, more = {}): Promise<Body> {
  await agent.open(authorizeUrl(peer, client, { scope, ...more }));
  await signIn(agent, loginName);
  return tokensBy(agent);
}

/** Logs in twice at once in two tabs of a browser, each with a session of its own; the tokens of the second log-in. */
async function enterInTwoTabs(agent: UserAgent, loginName: string): Promise<Body> {
  await agent.open(authorizeUrl(peer, client, { scope }));
  const { url: waiting } = await agent.submit({ login_name: loginName });
  await enter(agent, loginName);
  await agent.open(waiting);
  await signIn(agent, loginName);
  return tokensBy(agent);
}

const search = async (userId: string, token?: string) =>
  bodyOf(
    await peer.post(
      "/sign_ins/_search",
      [{ user_id: userId }],
      token === undefined ? {} : { token },
    ),
  ).result;

/** A session of the person themselves, by which they call the APIs. */
async function ownSession(userId: string): Promise<{ id: string; token: string }> {
  const made = await peer.post("/sessions", {
    checks: { user: { user_id: userId }, password: { password: "correct horse battery staple" } },
    user_agent: { description: "Terminal", ip: "203.0.113.9" },
  });
  const { details, session_token: token } = bodyOf(made, 201);
  return { id: details.id, token };
}

const isActive = async ({ access_token: token }: Body): Promise<boolean> =>
  (await peer.introspect(token, client)).active;
async function refreshes({ refresh_token }: Body): Promise<number> {
  const form = { grant_type: "refresh_token", refresh_token };
  return (await peer.send(paths.token, form, basic(client))).status;
}

describe("sign-ins (L3)", () => {
  it("tell the person where they are signed in: browser, system, address, since when, and in which apps", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const began = Date.now();
    await enter(browserAt("198.51.100.7", firefox), loginName);
    const own = await ownSession(id);
    const [terminal, browser, ...none] = await search(id, own.token);
    assert.deepEqual(none, []);
    const { details, since, last_seen, session_ids, ...rest } = browser;
    assert.deepEqual(rest, {
      user_id: id,
      browser: "Firefox",
      system: "Linux",
      address: "198.51.100.7",
      is_own: false,
      apps: [{ client_id: client.clientId, app_name: await appName(), token_families: 1 }],
    });
    assert.deepEqual(session_ids, [details.id]);
    assert.equal(details.resource_owner.id, peer.app.made.organization_id);
    assert.ok(Date.parse(since) >= began - 1000 && Date.parse(last_seen) >= Date.parse(since));
    assert.equal(terminal.is_own, true);
    assert.deepEqual(
      [terminal.browser, terminal.address, terminal.apps, terminal.session_ids],
      ["Terminal", "203.0.113.9", [], [own.id]],
    );
  });

  it("are one for a browser, however often the person logs in there, and two for two browsers", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const [one, other] = [browserAt("198.51.100.1", firefox), browserAt("198.51.100.2", safari)];
    await enterInTwoTabs(one, loginName);
    await enter(other, loginName);
    const found = await search(id);
    assert.deepEqual(
      found.map((each: Body) => [each.browser, each.system, each.session_ids.length]),
      [
        ["Safari", "iOS", 1],
        ["Firefox", "Linux", 2],
      ],
    );
    const sessions = bodyOf(await peer.post("/sessions/_search", [{ user_id: id }])).result;
    assert.equal(sessions.length, 3);
  });

  it("tell when they were last seen, to the hour", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const agent = browserAt("198.51.100.3", firefox);
    await enter(agent, loginName);
    const [{ since, last_seen: before }] = await search(id);
    peer.pass(2 * 3_600_000);
    await agent.open(authorizeUrl(peer, client, { scope: "openid" }));
    assert.ok(agent.last.left !== undefined);
    const [{ since: same, last_seen: later }] = await search(id);
    assert.equal(same, since);
    assert.ok(Date.parse(later) - Date.parse(before) >= 2 * 3_600_000);
  });

  it("of others are seen with session.read over them, and not without", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    await enter(browserAt("198.51.100.4", firefox), loginName);
    const elsewhere = await peer.addOrganization();
    const { token: nobody } = await peer.addMember(elsewhere, []);
    const { token: ownerElsewhere } = await peer.addMember(elsewhere, ["ORG_OWNER"]);
    const { token: owner } = await peer.addMember(peer.app.made.organization_id, ["ORG_OWNER"]);
    assert.deepEqual([await search(id, nobody), await search(id, ownerElsewhere)], [[], []]);
    const [seen] = await search(id, owner);
    assert.equal(seen.address, "198.51.100.4");
    for (const token of [nobody, ownerElsewhere]) {
      const refused = await peer.remove(`/sign_ins/${seen.details.id}`, { token });
      assert.deepEqual([refused.status, refused.refusal?.reason], [404, "SIGN_IN_NOT_FOUND"]);
    }
  });

  it("of an organization come page by page, the newest first, and are kept by since when they are there", async () => {
    const organizationId = await peer.addOrganization();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.unshift((await ownSession(await peer.addPerson({}, organizationId))).id);
      peer.pass(3_600_000);
    }
    const find = async (filters: JsonValue[] = [], query = "") =>
      bodyOf(await peer.post(`/sign_ins/_search?ctx.org_id=${organizationId}${query}`, filters));
    const idsOf = ({ result }: Body) => result.map(({ details }: Body) => details.id);
    const all = await find();
    assert.deepEqual(idsOf(all), ids);
    const first = await find([], "&query.limit=2&query.skip_total=true");
    assert.deepEqual(idsOf(first), ids.slice(0, 2));
    const page = `&query.limit=2&query.skip_total=true&query.after=${first.details.next}`;
    assert.deepEqual(idsOf(await find([], page)), ids.slice(2));
    const { since: date } = all.result[1];
    const kept = async (how: string) =>
      idsOf(await find([{ creation_date: { date, method: `TIMESTAMP_Filter_METHOD_${how}` } }]));
    assert.deepEqual(await kept("GREATER_OR_EQUALS"), ids.slice(0, 2));
    assert.deepEqual(await kept("GREATER"), ids.slice(0, 1));
    assert.deepEqual(await kept("EQUALS"), ids.slice(1, 2));
    assert.deepEqual(await kept("LESS"), ids.slice(2));
    const undated = await peer.post("/sign_ins/_search", [{ creation_date: {} }]);
    assert.deepEqual([undated.status, undated.refusal?.reason], [400, "VALIDATION_FAILED"]);
  });

  it("end with all their sessions and tokens; others stay", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const [one, other] = [browserAt("198.51.100.5", firefox), browserAt("198.51.100.6", safari)];
    const first = await enterInTwoTabs(one, loginName);
    const staying = await enter(other, loginName);
    const [safaris, firefoxes] = await search(id);
    const own = await ownSession(id);
    bodyOf(await peer.remove(`/sign_ins/${firefoxes.details.id}`, { token: own.token }));
    assert.deepEqual([await isActive(first), await refreshes(first)], [false, 400]);
    assert.deepEqual([await isActive(staying), await refreshes(staying)], [true, 200]);
    const left = await search(id);
    assert.deepEqual(
      left.map(({ details }: Body) => details.id),
      [own.id, safaris.details.id],
    );
    await one.open(authorizeUrl(peer, client, { scope: "openid", prompt: "none" }));
    assert.equal(answerOf(one.last).get("error"), "login_required");
    const again = await peer.remove(`/sign_ins/${firefoxes.details.id}`, { token: own.token });
    assert.deepEqual([again.status, again.refusal?.reason], [404, "SIGN_IN_NOT_FOUND"]);
  });

  it("of somebody who outranks the caller are not ended by them", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const ctx = { instance_id: peer.app.made.instance_id };
    bodyOf(await peer.post("/memberships", { ctx, user_id: id, roles: ["IAM_OWNER"] }), 201);
    await enter(browserAt("198.51.100.8", firefox), loginName);
    const [{ details }] = await search(id);
    const { token } = await peer.addMember(peer.app.made.organization_id, ["ORG_OWNER"]);
    for (const refused of [
      await peer.remove(`/sign_ins/${details.id}`, { token }),
      await peer.post("/sessions/_end_others", { user_id: id }, { token }),
    ]) {
      assert.deepEqual([refused.status, refused.refusal?.reason], [403, "USER_OUTRANKS_CALLER"]);
    }
    assert.equal((await search(id)).length, 1);
  });

  it("keep nothing of whoever is erased", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    await enter(browserAt("198.51.100.9", firefox), loginName);
    const { instance_id: instanceId } = peer.app.made;
    const [{ session_ids }] = await search(id);
    bodyOf(await peer.remove(`/users/${id}`));
    assert.deepEqual(await search(id), []);
    const { createVisits } = await import("../../../src/resources/session/index.ts");
    const visits = createVisits({ ...peer.deps });
    const left = await visits.ofSessions(instanceId, session_ids);
    assert.deepEqual(
      left.map(({ seen }) => seen),
      left.map(() => undefined),
    );
  });
});

describe("ending all other sessions (L3)", () => {
  it("keeps the one that the caller calls with, and ends the rest with their tokens", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const tokens = await enter(browserAt("198.51.100.20", firefox), loginName);
    const own = await ownSession(id);
    const answer = bodyOf(await peer.post("/sessions/_end_others", {}, { token: own.token }));
    assert.equal(answer.ended, 1);
    assert.deepEqual([await isActive(tokens), await refreshes(tokens)], [false, 400]);
    const left = await search(id, own.token);
    assert.deepEqual(
      left.map(({ details }: Body) => details.id),
      [own.id],
    );
  });

  it("keeps a named one with those beside it in the same browser; one that is not theirs is refused", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const agent = browserAt("198.51.100.21", firefox);
    const kept = await enterInTwoTabs(agent, loginName);
    const ended = await enter(browserAt("198.51.100.22", safari), loginName);
    const [{ details: safari22 }, { session_ids: own }] = await search(id);
    const { id: strangerId } = await addPersonNamed(peer);
    const stranger = await ownSession(strangerId);
    const refused = await peer.post("/sessions/_end_others", {
      user_id: id,
      session_id: stranger.id,
    });
    assert.equal(refused.refusal?.reason, "SESSION_NOT_OF_USER");
    assert.equal(refused.refusal?.violations[0]?.field, "session_id");
    const request = { user_id: id, session_id: own[1] };
    assert.equal(bodyOf(await peer.post("/sessions/_end_others", request)).ended, 1);
    assert.deepEqual([await isActive(kept), await isActive(ended)], [true, false]);
    assert.deepEqual((await search(id))[0].session_ids, own);
    assert.ok(!own.includes(safari22.id));
  });

  it("ends what apps have kept of sessions that ended by themselves", async () => {
    const { id, loginName } = await addPersonNamed(peer);
    const kept = await enter(browserAt("198.51.100.23", firefox), loginName);
    const [{ session_ids }] = await search(id);
    bodyOf(await peer.patch(`/sessions/${session_ids[0]}`, { lifetime: "1s" }));
    peer.pass(60_000);
    assert.deepEqual(await search(id), []);
    // The app lives on, as it was allowed to.
    const form = { grant_type: "refresh_token", refresh_token: kept.refresh_token };
    const refreshed = await peer.send(paths.token, form, basic(client));
    assert.equal(refreshed.status, 200, refreshed.text);
    bodyOf(await peer.post("/sessions/_end_others", { user_id: id }));
    assert.equal(await refreshes(refreshed.body), 400);
  });

  it("of others needs session.delete, and somebody who may not see the user does not learn of them", async () => {
    const { id } = await addPersonNamed(peer);
    const { token } = await peer.addMember(await peer.addOrganization(), ["ORG_OWNER"]);
    const refused = await peer.post("/sessions/_end_others", { user_id: id }, { token });
    assert.deepEqual([refused.status, refused.refusal?.reason], [404, "USER_NOT_FOUND"]);
  });
});

async function appName(): Promise<string> {
  const { app } = bodyOf(await peer.get(`/apps/${client.appId}`));
  return app.app.name;
}
