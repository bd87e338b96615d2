// Run: shared, store
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { logoutWishes } from "../../src/oidc/store/logouts.ts";
import { eq } from "../../src/storage/drizzle.ts";
import { addPersonNamed, authorizeUrl, signedIn } from "../support/login.ts";
import { type MadeClient, type OidcPeer, paths, startOidc } from "../support/oidc.ts";
import { answerOf } from "../support/user-agent.ts";

let peer: OidcPeer;
let client: MadeClient;
let url = "";
/** What the app was told, and how it answers. */
const told: { type: string | undefined; body: URLSearchParams }[] = [];
let status = 200;

const app = createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    told.push({ type: request.headers["content-type"], body: new URLSearchParams(text) });
    response.writeHead(status).end();
  });
});

before(async () => {
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/backchannel`;
  peer = await startOidc();
  client = await peer.addClient({
    back_channel_logout_uri: url,
    dev_mode: true,
    response_types: ["OIDC_RESPONSE_TYPE_ID_TOKEN", "OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN"],
    grant_types: ["OIDC_GRANT_TYPE_IMPLICIT"],
  });
});
after(async () => {
  app.close();
  await peer[Symbol.asyncDispose]();
});

async function loggedIn() {
  const alice = await addPersonNamed(peer);
  const agent = await signedIn(peer, await peer.addClient(), alice.loginName);
  const asked = authorizeUrl(peer, client, { response_type: "id_token", nonce: "n" });
  const hint = answerOf(await agent.open(asked)).get("id_token") ?? "";
  return { alice, agent, hint, sid: String(decodeJwt(hint)["sid"]) };
}

async function tokens(count: number): Promise<string[]> {
  const until = Date.now() + 60_000;
  while (told.length < count && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return told.splice(0).map(({ type, body }) => {
    assert.equal(type, "application/x-www-form-urlencoded");
    return body.get("logout_token") ?? "";
  });
}

/** Whether the store says of no app that it waits for the end of the session. */
async function isEnded(sid: string): Promise<boolean> {
  const { db } = peer.app.kernel;
  const t = db.table(logoutWishes);
  const rows = await db.read.select({ endedAt: t.endedAt }).from(t).where(eq(t.sessionId, sid));
  return rows.every(({ endedAt }) => endedAt !== null);
}

describe("back-channel logout (OpenID Connect Back-Channel Logout 1.0)", () => {
  it("tells the app by a signed token with sub and sid (section 2.4)", async () => {
    const { alice, agent, hint, sid } = await loggedIn();
    await agent.open(`/oidc/v1/end_session?id_token_hint=${hint}`);
    const [token = "", ...others] = await tokens(1);
    assert.deepEqual(others, []);
    const keys = createRemoteJWKSet(new URL(peer.issuer + paths.keys));
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: peer.issuer,
      audience: client.clientId,
      typ: "logout+jwt",
    });
    assert.equal(protectedHeader.alg, "RS256");
    assert.equal(payload.sub, alice.id);
    assert.equal(payload["sid"], sid);
    assert.equal(typeof payload.jti, "string");
    assert.equal(payload["nonce"], undefined);
    assert.deepEqual(payload["events"], {
      "http://schemas.openid.net/event/backchannel-logout": {},
    });
  });

  it("tells it whoever ends the session: the API, a deactivation, a lock, a removal, another password", async () => {
    const ends: ((of: { id: string }, sid: string) => Promise<unknown>)[] = [
      (_, sid) => peer.remove(`/sessions/${sid}`),
      ({ id }) => peer.post(`/users/${id}/_deactivate`),
      ({ id }) => peer.post(`/users/${id}/_lock`),
      ({ id }) => peer.remove(`/users/${id}`),
      ({ id }) => peer.post(`/users/${id}/password`, { password: "some other long words" }),
    ];
    for (const end of ends) {
      const { alice, sid } = await loggedIn();
      await end(alice, sid);
      // In the unit that ends it, and not with the next sweep of sessions.
      assert.ok(await isEnded(sid));
      const [token = ""] = await tokens(1);
      assert.equal(decodeJwt(token)["sid"], sid);
    }
  });

  it("tells it again until it has heard", async () => {
    const { agent, hint, sid } = await loggedIn();
    status = 500;
    await agent.open(`/oidc/v1/end_session?id_token_hint=${hint}`);
    assert.equal((await tokens(1)).length, 1);
    status = 204;
    peer.pass(60_000);
    const [token = ""] = await tokens(1);
    assert.equal(decodeJwt(token)["sid"], sid);
  });

  it("D31: a logout token is no hint, no bearer token and no assertion", async () => {
    const { agent, hint } = await loggedIn();
    await agent.open(`/oidc/v1/end_session?id_token_hint=${hint}`);
    const [token = ""] = await tokens(1);
    assert.equal((await peer.userinfo(token)).status, 401);
    const again = await loggedIn();
    const asked = await again.agent.open(`/oidc/v1/end_session?id_token_hint=${token}`);
    assert.equal(asked.url.pathname, "/ui/login/logout");
  });
});
