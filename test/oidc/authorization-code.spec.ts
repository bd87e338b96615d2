// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import * as oidc from "openid-client";
import {
  assertRefused,
  basic,
  type MadeClient,
  paths,
  pkce,
  read,
  redirectUri,
  relyingParty,
  startOidc,
} from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { roundsOf } from "../support/rounds.ts";

const service = await startOidc();
const { issuer, send, addClient, addPerson, codeFor, tokensFor, introspect, events } = service;
after(() => service[Symbol.asyncDispose]());
const rounds = roundsOf(10);

const redeem = (code: string, more: Record<string, string> = {}) => ({
  grant_type: "authorization_code",
  code,
  redirect_uri: redirectUri,
  ...more,
});
const keys = createRemoteJWKSet(new URL(`${issuer}${paths.keys}`));

describe("the grant authorization_code (RFC 6749 section 4.1.3)", () => {
  it("gives tokens once, and an ID token that anybody can verify", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const sessionId = await service.logIn(user);
    const authTime = new Date(Math.floor(service.now().getTime() / 1000) * 1000 - 5000);
    const scope = ["openid", "profile", "offline_access"];
    const body = await tokensFor(client, user, { scope, sessionId, nonce: "n-0S6", authTime });
    assert.match(body.access_token, /^idsvc_at_[0-9a-z]{9}[\w-]{43}$/);
    assert.match(body.refresh_token, /^idsvc_rt_[0-9a-z]{9}[\w-]{43}$/);
    assert.equal(body.token_type, "Bearer");
    assert.equal(body.expires_in, 43_200);
    assert.equal(body.scope, scope.join(" "));
    const { payload, protectedHeader } = await jwtVerify(body.id_token, keys, {
      issuer,
      audience: client.clientId,
      algorithms: ["RS256"],
    });
    assert.equal(protectedHeader.typ, undefined);
    const { iat = 0, exp = 0, aud, at_hash, ...claims } = payload;
    assert.equal(exp - iat, 43_200);
    assert.deepEqual(aud, [client.clientId]);
    assert.equal(typeof at_hash, "string");
    assert.deepEqual(claims, {
      iss: issuer,
      sub: user,
      azp: client.clientId,
      auth_time: authTime.getTime() / 1000,
      nonce: "n-0S6",
      amr: ["pwd"],
      sid: sessionId,
    });
  });

  it("makes ID tokens for the client alone, however many apps its project has (OpenID Connect Core 1.0 section 3.1.3.7)", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const alone = await tokensFor(client, user);
    const project_id = client.projectId;
    for (let made = 0; made < 20; made++) await addClient({}, { project_id });
    const other = await addClient();
    const scope = ["openid", `urn:idsvc:iam:org:project:id:${other.projectId}:aud`];
    const beside = await tokensFor(client, user, { scope });
    for (const { id_token: token } of [alone, beside]) {
      assert.deepEqual(decodeJwt(token).aud, [client.clientId]);
      assert.equal(decodeJwt(token)["azp"], client.clientId);
    }
    assert.equal(beside.id_token.length, alone.id_token.length);
  });

  it("is understood by openid-client, PKCE included (RFC 7636)", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const config = await relyingParty(
      service,
      client.clientId,
      oidc.ClientSecretBasic(client.secret),
    );
    const { verifier, challenge } = pkce();
    const wanted = { nonce: "once", codeChallenge: challenge };
    const code = await codeFor(client, user, wanted);
    const answer = new URL(`${redirectUri}?code=${code}&state=s&iss=${issuer}`);
    const tokens = await oidc.authorizationCodeGrant(config, answer, {
      pkceCodeVerifier: verifier,
      expectedNonce: "once",
      expectedState: "s",
      idTokenExpected: true,
    });
    assert.equal(tokens.claims()?.sub, user);
    const info = await oidc.fetchUserInfo(config, tokens.access_token, user);
    assert.equal(info.sub, user);
  });

  it("gives no refresh token without offline_access, or without the grant", async () => {
    const user = await addPerson();
    const without = await tokensFor(await addClient(), user, { scope: ["openid"] });
    assert.equal(without.refresh_token, undefined);
    const noGrant = await addClient({ grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"] });
    const body = await tokensFor(noGrant, user, { scope: ["openid", "offline_access"] });
    assert.equal(body.refresh_token, undefined);
    assert.equal(body.scope, "openid");
  });

  it("gives JWT access tokens to apps that want them (RFC 9068)", async () => {
    const client = await addClient({ access_token_type: "OIDC_TOKEN_TYPE_JWT" });
    const user = await addPerson();
    const { access_token: token } = await tokensFor(client, user, { scope: ["openid", "profile"] });
    const { payload } = await jwtVerify(token, keys, { issuer, typ: "at+jwt" });
    assert.deepEqual(Object.keys(payload).sort(), [
      "aud",
      "auth_time",
      "client_id",
      "exp",
      "iat",
      "iss",
      "jti",
      "nbf",
      "scope",
      "sub",
    ]);
    assert.equal(payload["scope"], "openid profile");
    const seen = await introspect(token, client);
    assert.equal(seen.active, true);
    assert.equal(seen.jti, payload.jti);
    // The same token in another spelling is none.
    const [head = "", claims = "", signature = ""] = token.split(".");
    const last = signature.at(-1) === "A" ? "B" : "A";
    const respelt = [head, claims, `${signature.slice(0, -1)}${last}`].join(".");
    assert.deepEqual(await introspect(respelt, client), { active: false });
  });

  const publishedAlgs = async (): Promise<string[]> => {
    const { body } = await read(await fetch(`${issuer}${paths.keys}`));
    return body.keys.map(({ alg }: { alg: string }) => alg).sort();
  };
  const signedBy = async (client: MadeClient, user: string): Promise<string | undefined> => {
    const { id_token: idToken } = await tokensFor(client, user);
    const fresh = createRemoteJWKSet(new URL(`${issuer}${paths.keys}`));
    await jwtVerify(idToken, fresh, { issuer });
    return decodeProtectedHeader(idToken).alg;
  };

  it("signs with the algorithm that the app asks for, with a key that is made and published with the app", async () => {
    assert.deepEqual(await publishedAlgs(), ["RS256"]);
    const [client, user] = [
      await addClient({ id_token_signed_response_alg: "ES256" }),
      await addPerson(),
    ];
    assert.deepEqual(await publishedAlgs(), ["ES256", "RS256"]);
    assert.equal(await signedBy(client, user), "ES256");
    const { body: discovered } = await read(await fetch(`${issuer}${paths.discovery}`));
    assert.deepEqual(discovered.id_token_signing_alg_values_supported, ["RS256", "ES256"]);
    const patch = { oidc: { id_token_signed_response_alg: "EdDSA" } };
    assert.equal((await service.patch(`/apps/${client.appId}`, patch)).status, 200);
    assert.deepEqual(await publishedAlgs(), ["ES256", "EdDSA", "RS256"]);
    assert.equal(await signedBy(client, user), "EdDSA");
    // One key does for all apps that ask for its algorithm.
    const another = await addClient({ id_token_signed_response_alg: "ES256" });
    assert.equal(await signedBy(another, user), "ES256");
    assert.deepEqual(await publishedAlgs(), ["ES256", "EdDSA", "RS256"]);
  });

  it("makes a key again that an app asks for and somebody removed, and never signs with another algorithm", async () => {
    const client = await addClient({ id_token_signed_response_alg: "ES256" });
    const user = await addPerson();
    const { web_keys: before } = bodyOf(await service.get("/web_keys"));
    for (const { config, details } of before) {
      if (config.ecdsa !== undefined) await service.remove(`/web_keys/${details.id}`);
    }
    assert.ok(!(await publishedAlgs()).includes("ES256"));
    const answers = await Promise.all([1, 2, 3, 4].map(() => signedBy(client, user)));
    assert.deepEqual(answers, ["ES256", "ES256", "ES256", "ES256"]);
    assert.equal((await publishedAlgs()).filter((alg) => alg === "ES256").length, 1);
  });

  it("D11: a code that comes again ends what came of it, and the log tells", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const code = await codeFor(client, user, { scope: ["openid", "offline_access"] });
    const { body } = await send(paths.token, redeem(code), basic(client));
    assert.equal((await introspect(body.access_token, client)).active, true);
    assertRefused(await send(paths.token, redeem(code), basic(client)), 400, "invalid_grant");
    assert.deepEqual(await introspect(body.access_token, client), { active: false });
    const refresh = { grant_type: "refresh_token", refresh_token: body.refresh_token };
    assertRefused(await send(paths.token, refresh, basic(client)), 400, "invalid_grant");
    assert.equal((await service.userinfo(body.access_token)).status, 401);
    const ended = (await events("oidc_session.terminated")).at(-1);
    assert.deepEqual(ended?.payload, { reason: "code_reused" });
  });

  it("D12: of 50 redemptions at once at most one succeeds", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    for (let round = 0; round < rounds; round++) {
      const code = await codeFor(client, user);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => send(paths.token, redeem(code), basic(client))),
      );
      const won = answers.filter(({ status }) => status === 200);
      assert.equal(won.length, 1);
      for (const answer of answers) {
        if (answer.status !== 200) assertRefused(answer, 400, "invalid_grant");
      }
      assert.deepEqual(await introspect(won[0]?.body.access_token, client), { active: false });
    }
  });

  it("D13: another client gets nothing for a code, nor does the right one with a wrong secret", async () => {
    const web = await addClient();
    const spa = await addClient({
      app_type: "OIDC_APP_TYPE_USER_AGENT",
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
    });
    const webb = await addClient();
    const code = await codeFor(web, await addPerson());
    const bySpa = await send(paths.token, redeem(code, { client_id: spa.clientId }));
    assertRefused(bySpa, 400, "invalid_grant");
    assertRefused(await send(paths.token, redeem(code), basic(webb)), 400, "invalid_grant");
    const wrong = basic({ ...web, secret: webb.secret });
    assertRefused(await send(paths.token, redeem(code), wrong), 401, "invalid_client");
    assert.equal((await send(paths.token, redeem(code), basic(web))).status, 200);
  });

  it("D14: the redirect URI is that of the request, to the letter", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const code = await codeFor(client, user);
    for (const redirect_uri of [`${redirectUri}/`, "https://rp.test/%63b", "https://RP.test/cb"]) {
      const other = await send(paths.token, redeem(code, { redirect_uri }), basic(client));
      assertRefused(other, 400, "invalid_grant");
    }
    const { redirect_uri: _, ...missing } = redeem(code);
    assertRefused(await send(paths.token, missing, basic(client)), 400, "invalid_request");
  });

  it("D15: the verifier proves the challenge, and comes only where there was one", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const { verifier, challenge: codeChallenge } = pkce();
    const code = await codeFor(client, user, { codeChallenge });
    for (const more of [
      {},
      { code_verifier: pkce().verifier },
      { code_verifier: verifier.slice(0, 42) },
      { code_verifier: codeChallenge },
    ]) {
      const answer = await send(paths.token, redeem(code, more), basic(client));
      assertRefused(answer, 400, "invalid_grant");
    }
    const proven = redeem(code, { code_verifier: verifier });
    assert.equal((await send(paths.token, proven, basic(client))).status, 200);
    const plain = redeem(await codeFor(client, user), { code_verifier: verifier });
    assertRefused(await send(paths.token, plain, basic(client)), 400, "invalid_grant");
  });

  it("D16: a code of 61 seconds is too old", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const code = await codeFor(client, user);
    service.pass(61_000);
    assertRefused(await send(paths.token, redeem(code), basic(client)), 400, "invalid_grant");
  });

  it("is refused where the session has ended, or the user may not use the app", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const sessionId = await service.logIn(user);
    const code = await codeFor(client, user, { sessionId });
    assert.equal((await service.remove(`/sessions/${sessionId}`)).status, 200);
    assertRefused(await send(paths.token, redeem(code), basic(client)), 400, "invalid_grant");
    const second = await codeFor(client, user);
    const project = { authorization_required: true };
    assert.equal((await service.patch(`/projects/${client.projectId}`, project)).status, 200);
    assertRefused(await send(paths.token, redeem(second), basic(client)), 400, "invalid_grant");
  });

  it("D53: a code is nothing at other places", async () => {
    const [client, user] = [await addClient(), await addPerson()];
    const code = await codeFor(client, user);
    assert.deepEqual(await introspect(code, client), { active: false });
    assert.equal((await service.userinfo(code)).status, 401);
    const refresh = { grant_type: "refresh_token", refresh_token: code };
    assertRefused(await send(paths.token, refresh, basic(client)), 400, "invalid_grant");
  });
});
