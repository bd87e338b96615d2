// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { addPersonNamed, authorizeUrl, signedIn, signIn } from "../support/login.ts";
import { type MadeClient, type OidcPeer, startOidc } from "../support/oidc.ts";
import { answerOf, errorOf, formOf, type UserAgent, userAgent } from "../support/user-agent.ts";

const path = "/oidc/v1/end_session";
const goodbye = "https://rp.test/bye";

let peer: OidcPeer;
let client: MadeClient;
let alice: { id: string; loginName: string };

before(async () => {
  peer = await startOidc();
  client = await peer.addClient({
    post_logout_redirect_uris: [goodbye],
    response_types: ["OIDC_RESPONSE_TYPE_CODE", "OIDC_RESPONSE_TYPE_ID_TOKEN"],
    grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_IMPLICIT"],
  });
  alice = await addPersonNamed(peer);
});
after(() => peer[Symbol.asyncDispose]());

/** A browser that is logged in, and the ID token that the client got. */
async function loggedIn(): Promise<{ agent: UserAgent; hint: string }> {
  const agent = await signedIn(peer, client, alice.loginName);
  const shown = await agent.open(
    authorizeUrl(peer, client, { response_type: "id_token", nonce: "n" }),
  );
  return { agent, hint: answerOf(shown).get("id_token") ?? "" };
}

const isIn = async (agent: UserAgent): Promise<boolean> =>
  answerOf(await agent.open(authorizeUrl(peer, client, { prompt: "none" }))).has("code");

const endAt = (agent: UserAgent, more: Record<string, string>) =>
  agent.open(`${path}?${new URLSearchParams(more)}`);

describe("logout with a genuine hint (OpenID Connect RP-Initiated Logout 1.0 section 2)", () => {
  it("ends the session without asking and goes back with the state", async () => {
    const { agent, hint } = await loggedIn();
    const state = "s".repeat(128);
    const shown = await endAt(agent, {
      id_token_hint: hint,
      post_logout_redirect_uri: goodbye,
      state,
    });
    assert.equal(String(shown.left), `${goodbye}?state=${state}`);
    assert.equal(await isIn(agent), false);
  });

  it("sends no state back where none was sent", async () => {
    const { agent, hint } = await loggedIn();
    const more = { id_token_hint: hint, post_logout_redirect_uri: goodbye };
    assert.equal(String((await endAt(agent, more)).left), goodbye);
  });

  it("counts also when it has expired", async () => {
    const { hint } = await loggedIn();
    peer.pass(13 * 3_600_000);
    const agent = await signedIn(peer, client, alice.loginName);
    const more = { id_token_hint: hint, post_logout_redirect_uri: goodbye };
    assert.equal(String((await endAt(agent, more)).left), goodbye);
    assert.equal(await isIn(agent), false);
  });

  it("goes to no URI that is not registered, says so, and logs out all the same", async () => {
    for (const uri of [`${goodbye}?x=1`, `${goodbye}/`, "https://evil.test/bye", "x"]) {
      const { agent, hint } = await loggedIn();
      const more = { id_token_hint: hint, post_logout_redirect_uri: uri };
      const shown = await endAt(agent, more);
      assert.equal(shown.left, undefined);
      assert.equal(shown.status, 400);
      assert.equal(errorOf(shown), "REDIRECT_URI_INVALID");
      assert.match(shown.html, /invalid_request: the post_logout_redirect_uri is not registered/);
      assert.ok(!shown.html.includes("evil.test"));
      assert.equal(await isIn(agent), false);
      // Whoever comes again, and has nothing to end, hears the same.
      assert.equal(errorOf(await endAt(agent, more)), "REDIRECT_URI_INVALID");
    }
  });

  it("goes nowhere when client_id names another client than the hint", async () => {
    const { agent, hint } = await loggedIn();
    const other = await peer.addClient({ post_logout_redirect_uris: [goodbye] });
    const shown = await endAt(agent, {
      id_token_hint: hint,
      client_id: other.clientId,
      post_logout_redirect_uri: goodbye,
    });
    assert.equal(errorOf(shown), "REDIRECT_URI_INVALID");
    assert.equal(await isIn(agent), false);
  });

  it("works by POST, where the cookie does not come along", async () => {
    const { agent, hint } = await loggedIn();
    const form = { id_token_hint: hint, post_logout_redirect_uri: goodbye };
    const body = new URLSearchParams(form);
    const shown = await agent.open(path, { method: "POST", body });
    assert.equal(String(shown.left), goodbye);
    assert.equal(await isIn(agent), false);
  });

  it("kills the access and refresh tokens of the session", async () => {
    const { agent, hint } = await loggedIn();
    const { sid } = decodeJwt(hint);
    assert.equal(typeof sid, "string");
    const answer = await agent.open(
      authorizeUrl(peer, await implicitClient(), { response_type: "id_token token", nonce: "n" }),
    );
    const token = answerOf(answer).get("access_token") ?? "";
    assert.equal((await peer.userinfo(token)).status, 200);
    await endAt(agent, { id_token_hint: hint });
    assert.equal((await peer.userinfo(token)).status, 401);
  });
});

const implicitClient = () =>
  peer.addClient({
    response_types: ["OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN"],
    grant_types: ["OIDC_GRANT_TYPE_IMPLICIT"],
  });

describe("logout without a hint that counts", () => {
  const forged = (token: string) => {
    const [, payload] = token.split(".");
    const header = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    return `${header}.${payload}.`;
  };
  const cases: Record<string, (hint: string) => Record<string, string>> = {
    "no parameters": () => ({}),
    "a state alone": () => ({ state: "s" }),
    "a URI alone": () => ({ post_logout_redirect_uri: goodbye }),
    "a hint without signature": (hint) => ({
      id_token_hint: forged(hint),
      post_logout_redirect_uri: goodbye,
    }),
    "a hint that is no JWT": () => ({
      id_token_hint: "garbage",
      post_logout_redirect_uri: goodbye,
    }),
    "a hint of somebody else's": () => ({
      id_token_hint: "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AAAA",
      post_logout_redirect_uri: goodbye,
    }),
  };
  for (const [what, parameters] of Object.entries(cases)) {
    it(`${what}: the user is asked, and goes nowhere`, async () => {
      const { agent, hint } = await loggedIn();
      const asked = await endAt(agent, parameters(hint));
      assert.equal(asked.url.pathname, "/ui/login/logout");
      assert.equal(await isIn(agent), true);
      await endAt(agent, parameters(hint));
      const done = await agent.submit({});
      assert.equal(done.left, undefined);
      assert.equal(done.url.pathname, "/ui/login/logout/done");
      assert.equal(await isIn(agent), false);
    });
  }

  it("gives the browser another cookie, and the one before is nobody's (D55)", async () => {
    const { agent } = await loggedIn();
    const earlier = new Map(agent.cookies);
    await endAt(agent, {});
    await agent.submit({});
    assert.notDeepEqual(agent.cookies, earlier);
    const old = userAgent(peer.issuer, new Map(earlier));
    await old.open(authorizeUrl(peer, client));
    assert.notDeepEqual(old.cookies, earlier, "a browser that is known keeps its cookie");
  });

  it("a client_id proves the URI: after the question the browser goes back", async () => {
    const { agent } = await loggedIn();
    const more = { client_id: client.clientId, post_logout_redirect_uri: goodbye, state: "s" };
    await endAt(agent, more);
    assert.equal(String((await agent.submit({})).left), `${goodbye}?state=s`);
    assert.equal(await isIn(agent), false);
  });

  it("an image on another site logs nobody out", async () => {
    const { agent } = await loggedIn();
    await agent.open(path, { headers: { "sec-fetch-site": "cross-site", cookie: "" } });
    assert.equal(await isIn(agent), true);
  });

  it("whose browser has no session is told so at once", async () => {
    const { agent } = await loggedIn();
    agent.cookies.clear();
    assert.equal((await endAt(agent, {})).url.pathname, "/ui/login/logout/done");
  });
});

describe("what the browser forgets at a logout (L11, decision 0327)", () => {
  const forgets = ({ headers }: Pick<Response, "headers">) => headers.get("clear-site-data");
  /** The answer itself, of which a browser that goes on shows nothing. */
  const answerAt = (agent: UserAgent, more: Record<string, string>) =>
    fetch(`${peer.issuer}${path}?${new URLSearchParams(more)}`, {
      headers: { cookie: [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      redirect: "manual",
    });

  it("is what is kept for the pages of the service, and never a cookie", async () => {
    const { agent, hint } = await loggedIn();
    const answer = await answerAt(agent, { id_token_hint: hint });
    assert.equal(answer.status, 303);
    assert.equal(forgets(answer), '"cache", "storage"');
  });

  it("is the same after the question on the page", async () => {
    const { agent } = await loggedIn();
    const { url, html } = await agent.open(path);
    const { action, fields } = formOf(html);
    const answer = await fetch(new URL(action, url), {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(fields),
      headers: {
        origin: peer.issuer,
        "sec-fetch-site": "same-origin",
        cookie: [...agent.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      },
    });
    assert.equal(answer.status, 303);
    assert.equal(forgets(answer), '"cache", "storage"');
  });

  it("is nothing while somebody else is logged in there, nor where nobody was", async () => {
    const { agent, hint } = await loggedIn();
    const bob = await addPersonNamed(peer);
    await agent.open(authorizeUrl(peer, client, { prompt: "select_account" }));
    const flow = agent.last.url.searchParams.get("flow") ?? "";
    await agent.open(`/ui/login/loginname?${new URLSearchParams({ flow })}`);
    await signIn(agent, bob.loginName);
    assert.equal(forgets(await answerAt(agent, { id_token_hint: hint })), null);
    assert.ok(await isIn(agent), "the other one is logged in still");
    assert.equal(forgets(await answerAt(userAgent(peer.issuer), {})), null);
  });
});
