// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import * as oauth from "oauth4webapi";
import * as oidc from "openid-client";
import { addPersonNamed, signIn } from "../support/login.ts";
import {
  type MadeClient,
  type OidcPeer,
  redirectUri,
  relyingParty,
  startOidc,
} from "../support/oidc.ts";
import { formOf, userAgent } from "../support/user-agent.ts";

// What independent clients check by themselves, they check here: both refuse answers that are not to the letter.

let peer: OidcPeer;
let client: MadeClient;
let alice: { id: string; loginName: string };

before(async () => {
  peer = await startOidc();
  client = await peer.addClient({
    response_types: ["OIDC_RESPONSE_TYPE_CODE", "OIDC_RESPONSE_TYPE_ID_TOKEN"],
    grant_types: [
      "OIDC_GRANT_TYPE_AUTHORIZATION_CODE",
      "OIDC_GRANT_TYPE_REFRESH_TOKEN",
      "OIDC_GRANT_TYPE_IMPLICIT",
    ],
  });
  alice = await addPersonNamed(peer);
});
after(() => peer[Symbol.asyncDispose]());

/** What a browser brings back to the client, posted or in the address. */
async function answered(url: URL): Promise<URL | Request> {
  const agent = userAgent(peer.issuer);
  await agent.open(url);
  const { left, html } = await signIn(agent, alice.loginName);
  if (left !== undefined) return left;
  const { action, fields } = formOf(html);
  assert.equal(action, redirectUri);
  return new Request(action, { method: "POST", body: new URLSearchParams(fields) });
}

describe("openid-client", () => {
  for (const response_mode of ["query", "form_post"]) {
    it(`logs in by code with PKCE, state and nonce, refreshes, and reads userinfo: ${response_mode}`, async () => {
      const config = await relyingParty(
        peer,
        client.clientId,
        oidc.ClientSecretBasic(client.secret),
      );
      const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
      const [expectedState, expectedNonce] = [oidc.randomState(), oidc.randomNonce()];
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: "openid offline_access profile",
        response_mode,
        state: expectedState,
        nonce: expectedNonce,
        max_age: "600",
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: "S256",
      });
      const tokens = await oidc.authorizationCodeGrant(config, await answered(url), {
        pkceCodeVerifier,
        expectedState,
        expectedNonce,
        maxAge: 600,
        idTokenExpected: true,
      });
      assert.equal(tokens.claims()?.sub, alice.id);
      const again = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? "");
      const told = await oidc.fetchUserInfo(config, again.access_token, alice.id);
      assert.equal(told.given_name, "Ada");
    });
  }

  for (const response_mode of ["fragment", "form_post"]) {
    it(`logs in by id_token alone: ${response_mode}`, async () => {
      const config = await relyingParty(peer, client.clientId, oidc.None());
      oidc.useIdTokenResponseType(config);
      const [expectedState, expectedNonce] = [oidc.randomState(), oidc.randomNonce()];
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: "openid email",
        response_mode,
        state: expectedState,
        nonce: expectedNonce,
      });
      const back = await answered(url);
      const claims = await oidc.implicitAuthentication(config, back, expectedNonce, {
        expectedState,
      });
      assert.equal(claims.sub, alice.id);
    });
  }
});

describe("oauth4webapi", () => {
  it("takes discovery, the answer with iss, the tokens and userinfo as they are", async () => {
    // oxlint-disable-next-line typescript/no-deprecated -- marked so to stand out: the service under test has no TLS.
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(peer.issuer);
    const found = await oauth.discoveryRequest(issuer, insecure);
    const as = await oauth.processDiscoveryResponse(issuer, found);
    assert.equal(as.authorization_response_iss_parameter_supported, true);
    const own = { client_id: client.clientId };
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
    const url = new URL(as.authorization_endpoint ?? "");
    const verifier = oauth.generateRandomCodeVerifier();
    const challenge = {
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    };
    const asked = { ...own, redirect_uri: redirectUri, response_type: "code", scope: "openid" };
    url.search = new URLSearchParams({ ...asked, ...challenge, state, nonce }).toString();
    const back = await answered(url);
    assert.ok(back instanceof URL);
    const parameters = oauth.validateAuthResponse(as, own, back, state);
    const answer = await oauth.authorizationCodeGrantRequest(
      ...([as, own, oauth.ClientSecretPost(client.secret), parameters, redirectUri] as const),
      verifier,
      insecure,
    );
    // It is registered for the header alone: the form is refused, by name and with 401.
    assert.equal(answer.status, 401);
    const right = await oauth.authorizationCodeGrantRequest(
      ...([as, own, oauth.ClientSecretBasic(client.secret), parameters, redirectUri] as const),
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, own, right, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    assert.equal(claims?.sub, alice.id);
    await oauth.validateApplicationLevelSignature(as, right, insecure);
    const asks = await oauth.userInfoRequest(as, own, tokens.access_token, insecure);
    const told = await oauth.processUserInfoResponse(as, own, alice.id, asks);
    assert.equal(told.sub, alice.id);
  });
});
