import assert from "node:assert/strict";
import { it } from "node:test";
import { decodeJwt } from "jose";
import { password } from "../support/login.ts";
import { basic, paths, pkce, redirectUri } from "../support/oidc.ts";
import { assertRandom, type Conformance, longState, nonce } from "./conformance.ts";

/** Those of `code`. */
export function codeModules(suite: () => Conformance): void {
  it("oidcc-server-client-secret-post: the whole flow with the secret in the form", async () => {
    const { agent, logIn, verified, peer, told, ask } = suite();
    const types = { response_types: ["OIDC_RESPONSE_TYPE_CODE"] };
    const auth = { auth_method_type: "OIDC_AUTH_METHOD_TYPE_POST" };
    const poster = await peer.addClient({ ...types, ...auth });
    const browser = agent();
    await logIn(browser);
    const code = told(await ask(browser, {}, poster)).get("code") ?? "";
    const { status, body } = await peer.send(paths.token, {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      client_id: poster.clientId,
      client_secret: poster.secret,
    });
    assert.equal(status, 200);
    const { access_token: accessToken, id_token: idToken } = body;
    await verified(
      { parameters: new URLSearchParams(), accessToken, idToken, tokens: body },
      poster,
    );
  });

  it("oidcc-ensure-post-request-succeeds: the authorization request may be posted", async () => {
    const { agent, peer, client, profile, told, redeem, user } = suite();
    const browser = agent();
    const body = new URLSearchParams({
      client_id: client.clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: "openid",
      state: longState,
      nonce,
      ...(profile.isFormPost ? { response_mode: "form_post" } : {}),
    });
    await browser.open(`${peer.issuer}/oauth/v2/authorize`, { method: "POST", body });
    await browser.submit({ login_name: user.loginName });
    const answer = told(await browser.submit({ password }));
    assert.equal(answer.get("state"), longState);
    assert.equal((await redeem(answer.get("code") ?? "")).status, 200);
  });

  it("oidcc-ensure-request-with-valid-pkce-succeeds: S256, for a client with a secret", async () => {
    const { agent, logIn, verified } = suite();
    const { verifier, challenge } = pkce();
    const asked = { code_challenge: challenge, code_challenge_method: "S256" };
    await verified(await logIn(agent(), { ...asked, code_verifier: verifier }));
  });

  it("oidcc-ensure-request-without-nonce-succeeds-for-code-flow: and no nonce is told", async () => {
    const { agent, logIn, verified } = suite();
    const claims = await verified(await logIn(agent(), { nonce: undefined }));
    assert.equal(claims["nonce"], undefined);
  });

  for (const [module, ms] of [
    ["oidcc-codereuse", 0],
    ["oidcc-codereuse-30seconds", 30_000],
  ] as const) {
    it(`${module}: invalid_grant, and what was issued is dead`, async () => {
      const { agent, logIn, redeem, peer } = suite();
      const { parameters, accessToken = "" } = await logIn(agent());
      peer.pass(ms);
      const again = await redeem(parameters.get("code") ?? "");
      assert.deepEqual([again.status, again.body.error], [400, "invalid_grant"]);
      assert.match(again.headers.get("content-type") ?? "", /^application\/json/);
      assert.equal((await peer.userinfo(accessToken)).status, 401);
    });
  }

  it("oidcc-refresh-token: for two clients; the token of one is nothing to the other", async () => {
    const { agent, logIn, verified, peer, client, second } = suite();
    const asked = { scope: "openid offline_access", prompt: "consent", max_age: "10000" };
    const issued: string[] = [];
    for (const by of [client, second]) {
      const first = await logIn(agent(), asked, by);
      const before = await verified(first, by);
      assertRandom(first.tokens.refresh_token);
      peer.pass(1_000);
      const form = { grant_type: "refresh_token", refresh_token: first.tokens.refresh_token };
      const { status, headers, body } = await peer.send(paths.token, form, basic(by));
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(body.token_type, "Bearer");
      assert.ok(body.expires_in > 0 && body.expires_in < 365 * 86_400);
      assertRandom(body.access_token);
      assert.notEqual(body.access_token, first.accessToken);
      const after = decodeJwt(body.id_token);
      for (const name of ["iss", "sub", "aud", "azp", "auth_time"]) {
        assert.deepEqual(after[name], before[name], name);
      }
      assert.ok(Number(after.iat) > Number(before.iat));
      assert.equal((await peer.userinfo(body.access_token)).status, 200);
      issued.push(body.refresh_token);
    }
    const form = { grant_type: "refresh_token", refresh_token: issued[1] ?? "" };
    const stolen = await peer.send(paths.token, form, basic(client));
    assert.deepEqual([stolen.status, stolen.body.error], [400, "invalid_grant"]);
  });
}
