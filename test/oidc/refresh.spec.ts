// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { decodeJwt } from "jose";
import {
  assertRefused,
  basic,
  type Body,
  type MadeClient,
  paths,
  startOidc,
} from "../support/oidc.ts";
import { roundsOf } from "../support/rounds.ts";

const service = await startOidc();
const { send, addClient, addPerson, tokensFor, introspect, events } = service;
after(() => service[Symbol.asyncDispose]());
const rounds = roundsOf(10);

const scope = ["openid", "profile", "offline_access"];
const refresh = (client: MadeClient, refresh_token: string, more: Record<string, string> = {}) =>
  send(paths.token, { grant_type: "refresh_token", refresh_token, ...more }, basic(client));
const begin = async (more = {}): Promise<[MadeClient, Body, string]> => {
  const [client, user] = [await addClient(), await addPerson()];
  return [client, await tokensFor(client, user, { scope, ...more }), user];
};

describe("the grant refresh_token (RFC 6749 section 6, RFC 9700 section 4.14)", () => {
  it("rotates: new tokens, the same user, audience and time of login", async () => {
    const [client, first] = await begin({ nonce: "n" });
    service.pass(5_000);
    const { status, body, headers } = await refresh(client, first.refresh_token);
    assert.equal(status, 200);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.notEqual(body.access_token, first.access_token);
    assert.notEqual(body.refresh_token, first.refresh_token);
    assert.equal(body.scope, scope.join(" "));
    const [before, now] = [decodeJwt(first.id_token), decodeJwt(body.id_token)];
    for (const claim of ["iss", "sub", "aud", "azp", "auth_time"]) {
      assert.deepEqual(now[claim], before[claim]);
    }
    assert.equal(now["nonce"], undefined);
    assert.ok((now.iat ?? 0) > (before.iat ?? 0));
    assert.equal((await introspect(body.access_token, client)).active, true);
  });

  it("D32: one that comes again ends the family with all its access tokens, and the log tells", async () => {
    const [client, first] = await begin();
    const second = (await refresh(client, first.refresh_token)).body;
    const third = (await refresh(client, second.refresh_token)).body;
    assertRefused(await refresh(client, first.refresh_token), 400, "invalid_grant");
    assertRefused(await refresh(client, third.refresh_token), 400, "invalid_grant");
    for (const { access_token: token } of [first, second, third]) {
      assert.deepEqual(await introspect(token, client), { active: false });
    }
    const ended = (await events("oidc_session.terminated")).at(-1);
    assert.deepEqual(ended?.payload, { reason: "refresh_token_reused" });
  });

  it("D33: of 50 uses at once there are never two living descendants", async () => {
    for (let round = 0; round < rounds; round++) {
      const [client, first] = await begin();
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => refresh(client, first.refresh_token)),
      );
      const won = answers.filter(({ status }) => status === 200);
      assert.equal(won.length, 1);
      for (const { body } of won) {
        assertRefused(await refresh(client, body.refresh_token), 400, "invalid_grant");
        assert.deepEqual(await introspect(body.access_token, client), { active: false });
      }
    }
  });

  it("D34: only the client it was issued to, and only with its secret", async () => {
    const [client, { refresh_token: token }] = await begin();
    assertRefused(await refresh(await addClient(), token), 400, "invalid_grant");
    const spa = await addClient({
      app_type: "OIDC_APP_TYPE_USER_AGENT",
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
    });
    const form = { grant_type: "refresh_token", refresh_token: token };
    const bySpa = await send(paths.token, { ...form, client_id: spa.clientId });
    assertRefused(bySpa, 400, "invalid_grant");
    const noSecret = await send(paths.token, { ...form, client_id: client.clientId });
    assertRefused(noSecret, 401, "invalid_client");
    assert.equal((await refresh(client, token)).status, 200);
  });

  it("D35: wider is refused, narrower is narrow once, and then it is the first scope again", async () => {
    const [client, first] = await begin();
    const wider = await refresh(client, first.refresh_token, { scope: "openid email" });
    assertRefused(wider, 400, "invalid_scope");
    const narrow = (await refresh(client, first.refresh_token, { scope: "openid" })).body;
    assert.equal(narrow.scope, "openid");
    assert.equal((await introspect(narrow.access_token, client)).scope, "openid");
    const again = (await refresh(client, narrow.refresh_token)).body;
    assert.equal(again.scope, scope.join(" "));
  });

  it("ends when it lies idle for 30 days, and after 90 whatever happens", async () => {
    const day = 24 * 60 * 60_000;
    const [client, idle] = await begin();
    const [other, used] = await begin();
    service.pass(29 * day);
    const [second, kept] = [await refresh(client, idle.refresh_token), other];
    assert.equal(second.status, 200);
    let { refresh_token: token } = (await refresh(kept, used.refresh_token)).body;
    service.pass(29 * day);
    ({ refresh_token: token } = (await refresh(kept, token)).body);
    service.pass(2 * day);
    assertRefused(await refresh(client, second.body.refresh_token), 400, "invalid_grant");
    service.pass(27 * day);
    ({ refresh_token: token } = (await refresh(kept, token)).body);
    service.pass(4 * day);
    assertRefused(await refresh(kept, token), 400, "invalid_grant");
  });

  const endings: [string, (user: string, client: MadeClient) => Promise<{ status: number }>][] = [
    ["the user is locked", (user) => service.post(`/users/${user}/_lock`)],
    ["the user is deactivated", (user) => service.post(`/users/${user}/_deactivate`)],
    ["the user is deleted", (user) => service.remove(`/users/${user}`)],
    ["the app is deactivated", (_, app) => service.post(`/apps/${app.appId}/_deactivate`)],
    ["the app is deleted", (_, app) => service.remove(`/apps/${app.appId}`)],
    [
      "the project is deactivated",
      (_, app) => service.post(`/projects/${app.projectId}/_deactivate`),
    ],
  ];
  for (const [what, end] of endings) {
    it(`D36: nothing lives on when ${what}`, async () => {
      const [client, user] = [await addClient(), await addPerson()];
      const api = await service.addApi("BASIC", client.projectId);
      const body = await tokensFor(client, user, { scope });
      assert.equal((await introspect(body.access_token, api)).active, true);
      assert.equal((await service.userinfo(body.access_token)).status, 200);
      assert.equal((await end(user, client)).status, 200);
      const refused = await refresh(client, body.refresh_token);
      assert.ok(["invalid_grant", "invalid_client"].includes(refused.body.error), refused.text);
      assert.equal((await service.userinfo(body.access_token)).status, 401);
      const seen = await send(paths.introspect, { token: body.access_token }, basic(api));
      // With the project its APIs are gone as well.
      if (what.startsWith("the project")) assertRefused(seen, 401, "invalid_client");
      else assert.deepEqual(seen.body, { active: false });
    });
  }

  it("D36: a change of the password ends what a login gave, and what comes of a session ends with it", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const byPassword = await service.logIn(user);
    const body = await tokensFor(client, user, { scope, sessionId: byPassword });
    const machine = await service.addMachine();
    const other = await tokensFor(client, user, { scope });
    const changed = await service.post(`/users/${user}/password`, {
      password: "an entirely different passphrase",
    });
    assert.equal(changed.status, 200, changed.refusal?.message);
    assertRefused(await refresh(client, body.refresh_token), 400, "invalid_grant");
    assert.deepEqual(await introspect(body.access_token, client), { active: false });
    assert.equal((await introspect(other.access_token, client)).active, true);
    assert.ok(machine.id);
    const second = await addPerson();
    const session = await service.logIn(second);
    const fromSession = await tokensFor(client, second, { scope, sessionId: session });
    assert.equal((await service.remove(`/sessions/${session}`)).status, 200);
    assertRefused(await refresh(client, fromSession.refresh_token), 400, "invalid_grant");
    assert.deepEqual(await introspect(fromSession.access_token, client), { active: false });
  });

  it("outlives the session it came from when that just expires", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const checks = { user: { user_id: user } };
    const made = await service.post("/sessions", { checks, lifetime: "60s" });
    const sessionId = String(Object(made.json).details.id);
    const body = await tokensFor(client, user, { scope, sessionId });
    service.pass(61_000);
    assert.equal((await refresh(client, body.refresh_token)).status, 200);
  });
});
