// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { TOTP } from "otpauth";
import { addPersonNamed, signedIn, signIn } from "../support/login.ts";
import { type MadeClient, type OidcPeer, paths, startOidc } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { pathOf } from "../support/login-pages.ts";
import { errorOf, userAgent } from "../support/user-agent.ts";

const grant_type = "urn:ietf:params:oauth:grant-type:device_code";

let peer: OidcPeer;
let tv: MadeClient;

before(async () => {
  peer = await startOidc();
  tv = await peer.addClient({
    app_type: "OIDC_APP_TYPE_NATIVE",
    auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
    redirect_uris: [],
    grant_types: ["OIDC_GRANT_TYPE_DEVICE_CODE"],
  });
});
after(() => peer[Symbol.asyncDispose]());

async function begun() {
  const scope = "openid profile";
  const { body } = await peer.send(paths.device, { client_id: tv.clientId, scope });
  const poll = () => {
    peer.pass(6_000);
    return peer.send(paths.token, {
      grant_type,
      device_code: body.device_code,
      client_id: tv.clientId,
    });
  };
  return { body, poll };
}

describe("the pages for devices (RFC 8628 section 3.3)", () => {
  it("let a device in whose code is typed, after the login, when it is confirmed", async () => {
    const alice = await addPersonNamed(peer);
    const { body, poll } = await begun();
    assert.equal((await poll()).body.error, "authorization_pending");
    const agent = userAgent(peer.issuer);
    await agent.open(body.verification_uri);
    await agent.submit({ user_code: body.user_code.toLowerCase().replace("-", " ") });
    const confirm = await signIn(agent, alice.loginName);
    assert.equal(confirm.url.pathname, "/ui/login/device/confirm");
    assert.match(confirm.html, new RegExp(body.user_code));
    const done = await agent.submit({ consent: "allow" });
    assert.equal(done.url.pathname, "/ui/login/device/done");
    const { status, body: tokens } = await poll();
    assert.equal(status, 200);
    assert.equal((await peer.userinfo(tokens.access_token)).body.sub, alice.id);
  });

  it("take the code from the link, and ask a user who is logged in for nothing but their word", async () => {
    const alice = await addPersonNamed(peer);
    const { body, poll } = await begun();
    const agent = await signedIn(peer, await peer.addClient(), alice.loginName);
    await agent.open(body.verification_uri_complete);
    assert.match(agent.last.html, new RegExp(`value="${body.user_code}"`));
    const confirm = await agent.submit({ user_code: body.user_code });
    assert.equal(confirm.url.pathname, "/ui/login/device/confirm");
    await agent.submit({ consent: "deny" });
    assert.equal((await poll()).body.error, "access_denied");
  });

  it("say of an unknown, expired or used code no more than that it is wrong", async () => {
    const { body } = await begun();
    peer.pass(6 * 60_000);
    const wrong = "This code is wrong or has expired";
    const empty = "Please fill in this field.";
    for (const [user_code, told] of [
      [body.user_code, wrong],
      ["BCDF-GHJK", wrong],
      ["x", wrong],
      ["", empty],
    ] as const) {
      const agent = userAgent(peer.issuer);
      await agent.open("/device");
      const shown = await agent.submit({ user_code });
      assert.ok(shown.html.includes(told), shown.html);
    }
  });

  it("are not confirmed in a login that is for no device", async () => {
    const alice = await addPersonNamed(peer);
    const agent = userAgent(peer.issuer);
    await agent.open("/ui/login");
    const asked = await agent.submit({ login_name: alice.loginName });
    const flow = asked.url.searchParams.get("flow") ?? "";
    assert.notEqual(flow, "");
    await signIn(agent, alice.loginName);
    const shown = await agent.open(`/ui/login/device/confirm?flow=${encodeURIComponent(flow)}`);
    assert.equal(shown.status, 400);
    assert.equal(errorOf(shown), "FLOW_NOT_FOUND");
  });

  it("D56: are not confirmed before the login", async () => {
    const { body } = await begun();
    const agent = userAgent(peer.issuer);
    await agent.open("/device");
    await agent.submit({ user_code: body.user_code });
    const flow = agent.last.url.searchParams.get("flow");
    const shown = await agent.open(`/ui/login/device/confirm?flow=${flow}`);
    assert.equal(pathOf(shown), "/ui/login/loginname");
  });

  it("D56: are not confirmed between the password and the second factor", async () => {
    const alice = await addPersonNamed(peer);
    const { secret, totp_id } = bodyOf(await peer.post(`/users/${alice.id}/totp`));
    const totp = new TOTP({ secret });
    const code = () => totp.generate({ timestamp: peer.now().getTime() });
    bodyOf(await peer.post(`/users/${alice.id}/totp/${totp_id}/_verify`, code()));
    const { body, poll } = await begun();
    const agent = userAgent(peer.issuer);
    await agent.open("/device");
    await agent.submit({ user_code: body.user_code });
    const asked = await signIn(agent, alice.loginName);
    assert.equal(asked.url.pathname, "/ui/login/mfa/totp");
    const flow = asked.url.searchParams.get("flow");
    const shown = await agent.open(`/ui/login/device/confirm?flow=${flow}`);
    assert.equal(shown.status, 400);
    assert.equal((await poll()).body.error, "authorization_pending");
  });
});
