// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { addPersonNamed, authorizeUrl, signedIn, signIn } from "../support/login.ts";
import { authorizer } from "../../src/oidc/core/authorize/answer.ts";
import type { AuthorizationRequest, Ports } from "../../src/oidc/core/ports.ts";
import {
  assertRefused,
  basic,
  type MadeClient,
  type OidcPeer,
  paths,
  redirectUri,
  startOidc,
} from "../support/oidc.ts";
import { answerOf, type UserAgent, userAgent } from "../support/user-agent.ts";

let peer: OidcPeer;
let web: MadeClient;
let imp: MadeClient;
let alice: { id: string; loginName: string };

const implicit = {
  response_types: ["OIDC_RESPONSE_TYPE_ID_TOKEN", "OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN"],
  grant_types: ["OIDC_GRANT_TYPE_IMPLICIT"],
};

before(async () => {
  peer = await startOidc();
  web = await peer.addClient();
  imp = await peer.addClient(implicit);
  alice = await addPersonNamed(peer);
});
after(() => peer[Symbol.asyncDispose]());

const fresh = () => userAgent(peer.issuer);
const ask = (more: Record<string, string | undefined>, client = web, agent = fresh()) =>
  agent.open(authorizeUrl(peer, client, more));

/** The client hears of the refusal, with its state and the issuer. */
async function refusal(
  error: string,
  more: Record<string, string | undefined>,
  client = web,
  agent = fresh(),
): Promise<URL> {
  const shown = await ask(more, client, agent);
  const told = answerOf(shown);
  assert.equal(told.get("error"), error, String(told));
  assert.match(told.get("error_description") ?? "", /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  assert.equal(told.get("state"), more["state"] ?? "a-state");
  assert.equal(told.get("iss"), peer.issuer);
  assert.equal(told.get("code"), null);
  assert.ok(shown.left !== undefined);
  return shown.left;
}

describe("a user who is logged in", () => {
  let agent: UserAgent;
  before(async () => {
    agent = await signedIn(peer, web, alice.loginName);
  });
  const answered = async (more: Record<string, string | undefined>, client = web) =>
    answerOf(await ask(more, client, agent));
  const idTokenOf = async (more: Record<string, string | undefined>) =>
    decodeJwt(
      (await answered({ response_type: "id_token", nonce: "n", ...more }, imp)).get("id_token") ??
        "",
    );

  it("gets a code without a page, and the state", async () => {
    const answer = await answered({});
    assert.match(answer.get("code") ?? "", /^idsvc_ac_[0-9a-z]{9}[\w-]{43}$/);
    assert.equal(answer.get("state"), "a-state");
    assert.equal(answer.get("iss"), peer.issuer);
  });

  it("gets it by POST as well, where the cookie does not come along (section 3.1.2.1)", async () => {
    const { searchParams, origin, pathname } = new URL(authorizeUrl(peer, web));
    const shown = await agent.open(origin + pathname, { method: "POST", body: searchParams });
    assert.match(answerOf(shown).get("code") ?? "", /^idsvc_ac_/);
  });

  it("gets tokens in the fragment (section 3.2.2.5)", async () => {
    const shown = await ask({ response_type: "id_token token", nonce: "n" }, imp, agent);
    assert.equal(shown.left?.search, "");
    const answer = answerOf(shown);
    assert.equal(answer.get("token_type"), "Bearer");
    assert.ok(Number(answer.get("expires_in")) > 0);
    const claims = decodeJwt(answer.get("id_token") ?? "");
    assert.equal(claims.sub, alice.id);
    assert.equal(claims["nonce"], "n");
    assert.ok(typeof claims["at_hash"] === "string");
    const { status, body } = await peer.userinfo(answer.get("access_token") ?? "");
    assert.equal(status, 200);
    assert.equal(body.sub, alice.id);
  });

  it("gets of the scope what is known, and without a code no offline_access (section 11)", async () => {
    const both = await peer.addClient({
      ...implicit,
      grant_types: ["OIDC_GRANT_TYPE_IMPLICIT", "OIDC_GRANT_TYPE_REFRESH_TOKEN"],
    });
    const scope = "openid offline_access nonsense";
    const issued = answerOf(
      await ask({ response_type: "id_token token", nonce: "n", scope }, both, agent),
    );
    assert.equal(issued.get("scope"), "openid");
    const code = answerOf(await ask({ scope }, web, agent)).get("code") ?? "";
    const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri };
    const { body } = await peer.send(paths.token, form, basic(web));
    assert.equal(body.scope, "openid offline_access");
  });

  it("gets a code that lives for as long as the settings say", async () => {
    const code = async () => answerOf(await ask({}, web, agent)).get("code") ?? "";
    const redeem = (value: string) => {
      const form = { grant_type: "authorization_code", code: value, redirect_uri: redirectUri };
      return peer.send(paths.token, form, basic(web));
    };
    const { codeMs } = await peer.ports.settings.lifetimes(peer.at, peer.app.made.organization_id);
    const [young, old] = [await code(), await code()];
    peer.pass(codeMs / 2);
    assert.equal((await redeem(young)).status, 200);
    peer.pass(codeMs / 2);
    assertRefused(await redeem(old), 400, "invalid_grant");
  });

  it("is sent to log in where the session ends while tokens are made", async () => {
    const { ports, at } = peer;
    const client = await ports.clients.byId(at, imp.clientId);
    const user = await ports.users.byId(at, alice.id);
    assert.ok(client !== undefined && user !== undefined);
    const tokens = { ...ports.tokens, issue: async () => ({ outcome: "ended" }) as const };
    const functions = { add: async () => ({}) };
    const authorize = authorizer({ ...ports, tokens, functions } as unknown as Ports);
    const request = {
      responseType: "id_token",
      nonce: "n",
      scope: ["openid"],
      prompt: [],
      clientId: imp.clientId,
      redirectUri,
      claims: undefined,
      codeChallenge: undefined,
    } as unknown as AuthorizationRequest;
    const session = { id: "1", user, authTime: peer.now(), amr: ["pwd"], levels: [] };
    await assert.rejects(authorize(at, { request, client, session }), { code: "login_required" });
  });

  it("gets no access token for id_token alone, and its scope's claims in the ID token", async () => {
    const answer = await answered(
      { response_type: "id_token", nonce: "n", scope: "openid profile" },
      imp,
    );
    assert.equal(answer.get("access_token"), null);
    const claims = decodeJwt(answer.get("id_token") ?? "");
    assert.equal(claims["given_name"], "Ada");
    assert.equal(claims["at_hash"], undefined);
  });

  it("keeps their auth_time with max_age, until it is too old", async () => {
    const first = await idTokenOf({ max_age: "15000" });
    const second = await idTokenOf({ max_age: "10000" });
    assert.ok(typeof first["auth_time"] === "number");
    assert.equal(second["auth_time"], first["auth_time"]);
    peer.pass(10_000);
    const shown = await ask({ max_age: "1" }, web, agent);
    assert.equal(shown.url.pathname, "/ui/login/password");
    assert.match(shown.html, new RegExp(alice.loginName.split("@")[0] ?? ""));
    await refusal("login_required", { max_age: "1", prompt: "none" }, web, agent);
  });

  it("D10: max_age 0 and prompt login ask again, and auth_time is later", async () => {
    for (const more of [{ max_age: "0" }, { prompt: "login" }]) {
      const earlier = await idTokenOf({});
      peer.pass(2_000);
      const asked = { response_type: "id_token", nonce: "n", ...more };
      const shown = await ask(asked, imp, agent);
      assert.equal(shown.url.pathname, "/ui/login/password");
      const later = decodeJwt(answerOf(await signIn(agent, alice.loginName)).get("id_token") ?? "");
      assert.ok(Number(later["auth_time"]) > Number(earlier["auth_time"]));
    }
  });

  it("is found by an id_token_hint, also by an expired one; nobody else is", async () => {
    const { id_token: hint } = Object.fromEntries(
      await answered({ response_type: "id_token", nonce: "n" }, imp),
    );
    peer.pass(13 * 3_600_000);
    const fitting = await answered({ prompt: "none", id_token_hint: hint });
    assert.match(fitting.get("code") ?? "", /^idsvc_ac_/);
    const bob = await addPersonNamed(peer);
    const ofBob = await signedIn(peer, web, bob.loginName);
    await refusal("login_required", { prompt: "none", id_token_hint: hint }, web, ofBob);
  });

  it("chooses among several sessions; silently it is interaction_required", async () => {
    const both = await signedIn(peer, web, alice.loginName);
    const bob = await addPersonNamed(peer);
    await ask({ prompt: "login" }, web, both);
    await both.open(`/ui/login/loginname?flow=${both.last.url.searchParams.get("flow")}`);
    await signIn(both, bob.loginName);
    await refusal("interaction_required", { prompt: "none" }, web, both);
    const shown = await ask({}, web, both);
    assert.equal(shown.url.pathname, "/ui/login/accounts");
    const [, id = ""] = /name="session" value="([^"]+)"/.exec(shown.html) ?? [];
    assert.match(answerOf(await both.submit({ session: id })).get("code") ?? "", /^idsvc_ac_/);
  });

  it("prompt select_account and create show their pages", async () => {
    assert.equal(
      (await ask({ prompt: "select_account" }, web, agent)).url.pathname,
      "/ui/login/accounts",
    );
    assert.equal((await ask({ prompt: "create" }, web, agent)).url.pathname, "/ui/login/register");
  });

  it("prompt consent of an app of the user's own organization needs no page", async () => {
    assert.match((await answered({ prompt: "consent" })).get("code") ?? "", /^idsvc_ac_/);
  });

  it("does not get in where a role is needed: access_denied", async () => {
    const client = await peer.addClient();
    await peer.patch(`/projects/${client.projectId}`, { authorization_required: true });
    await refusal("access_denied", {}, client, agent);
  });
});
