// Run: shared
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, it } from "node:test";
import { addPersonNamed, authorizeUrl, password, signedIn } from "../support/login.ts";
import { basic, paths, pkce, redirectUri, startOidc } from "../support/oidc.ts";
import { forgeJwt } from "../support/forge.ts";
import { answerOf, userAgent } from "../support/user-agent.ts";

const lines: string[] = [];
const service = await startOidc({ log: (line) => void lines.push(line) });
const { send } = service;
after(() => service[Symbol.asyncDispose]());

it("D21: nothing that was issued or proven by stands in the log, at level debug", async () => {
  const web = await service.addClient();
  const jwt = await service.addClient({ access_token_type: "OIDC_TOKEN_TYPE_JWT" });
  const machine = await service.addMachine();
  const alice = await addPersonNamed(service);
  const scope = ["openid", "offline_access"];
  const issued = await service.tokensFor(web, alice.id, { scope });
  const renewed = (
    await send(
      paths.token,
      { grant_type: "refresh_token", refresh_token: issued.refresh_token },
      basic(web),
    )
  ).body;
  const form = { grant_type: "client_credentials", scope: "openid" };
  const ofMachine = (await send(paths.token, form, basic(machine))).body;
  const asJwt = await service.tokensFor(jwt, alice.id);
  const agent = await signedIn(service, web, alice.loginName);
  const code = answerOf(await agent.open(authorizeUrl(service, web))).get("code") ?? "";
  await service.introspect(issued.access_token, web);
  await service.userinfo(renewed.access_token);
  await send(paths.revoke, { token: renewed.refresh_token }, basic(web));
  // Refusals tell no more than successes.
  const wrong = "a-secret-that-somebody-mistyped";
  await send(paths.token, form, basic({ ...machine, secret: wrong }));
  await service.userinfo(`${renewed.access_token}x`);
  await service.get(`/users/${alice.id}`, { token: asJwt.access_token });

  const secrets = [
    ...[issued, renewed, ofMachine, asJwt].flatMap((each) => [
      each.access_token,
      each.refresh_token,
      each.id_token,
    ]),
    web.secret,
    jwt.secret,
    machine.secret,
    wrong,
    password,
    code,
    ...agent.cookies.values(),
  ].filter((each) => typeof each === "string");
  assert.ok(secrets.length > 15);
  const log = lines.join("");
  for (const path of Object.values(paths).slice(2, 5)) assert.ok(log.includes(path), path);
  for (const secret of secrets) {
    assert.notEqual(secret, "");
    assert.ok(!log.includes(secret), `${secret.slice(0, 12)}... stands in the log`);
  }
});

describe("what the log says of an id_token_hint", () => {
  const theirs = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AAAA";
  const told = (path: string) =>
    lines
      .map((line) => JSON.parse(line))
      .findLast((each) => each.path === path && each.msg === "request");
  const ignored = "the id_token_hint is no ID token of this instance: it was ignored";

  it("tells that it was ignored, where it is no ID token of this instance, and what is wrong with it", async () => {
    const { clientId } = await service.addClient();
    const agent = userAgent(service.issuer);
    const open = (id_token_hint: string, more = {}) =>
      agent.open(authorizeUrl(service, { clientId }, { id_token_hint, ...more }));
    const path = "/oauth/v2/authorize";
    await open(theirs);
    const { clientId: named, reason, error } = told(path);
    assert.deepEqual([named, reason, error], [clientId, ignored, undefined]);
    await open(theirs, { prompt: "none" });
    assert.equal(told(path).error, "login_required");
    assert.match(told(path).reason, /nobody is logged in here.*; the id_token_hint .*was ignored$/);
    await open("garbage");
    assert.equal(told(path).error, "invalid_request");
    assert.match(told(path).reason, /id_token_hint is no JWT/);
    await agent.open(`/oidc/v1/end_session?id_token_hint=${theirs}`);
    assert.equal(told("/oidc/v1/end_session").reason, ignored);
    for (const line of lines) assert.ok(!line.includes(theirs));
  });
});

describe("what the log says of a refused request, whose answer may not tell why", () => {
  /** The line of the last request at an endpoint. */
  const told = (path: string): Record<string, unknown> => {
    const all = lines.map((line) => JSON.parse(line)).filter((each) => each.path === path);
    return all.findLast(({ msg }) => msg === "request") ?? {};
  };
  const refused = async (
    form: Record<string, string>,
    headers: Record<string, string>,
    expected: { clientId?: string; error: string; reason: RegExp },
    path = paths.token,
  ) => {
    const answer = await send(path, form, headers);
    assert.equal(answer.body.error, expected.error, answer.text);
    const { clientId, error, reason, status } = told(path);
    assert.deepEqual({ clientId, error }, { clientId: expected.clientId, error: expected.error });
    assert.match(String(reason), expected.reason);
    assert.equal(status, answer.status);
  };
  const grant_type = "authorization_code";
  const redeem = (code: string, more = {}) => ({
    grant_type,
    code,
    redirect_uri: redirectUri,
    ...more,
  });

  it("names the client and why it has not proven itself", async () => {
    const [web, machine] = [await service.addClient(), await service.addMachine()];
    const error = "invalid_client";
    const { clientId, secret } = web;
    const [form, credentials] = [
      redeem("x"),
      { grant_type: "client_credentials", scope: "openid" },
    ];
    const wrong = basic({ clientId, secret: "wrong" });
    await refused(form, wrong, { clientId, error, reason: /the secret is wrong/ });
    const posted = { ...form, client_id: clientId, client_secret: secret };
    const reason = /client_secret_post.*client_secret_basic/;
    await refused(posted, {}, { clientId, error, reason });
    const unknown = { clientId: "404404", secret: "wrong" };
    const nobody = /no active app/;
    await refused(form, basic(unknown), { clientId: "404404", error, reason: nobody });
    const robot = { clientId: machine.clientId, error, reason: /no machine user/ };
    await refused(credentials, basic({ ...machine, secret: "wrong" }), robot);
    await refused(form, {}, { error, reason: /no credentials/ });
    // A secret in the place of the client id stays out of it.
    const swapped = basic({ clientId: secret, secret: clientId });
    await refused(form, swapped, { error, reason: nobody });
    await refused({ token: "x" }, wrong, { clientId, error, reason: /secret/ }, paths.introspect);
    await refused({ token: "x" }, wrong, { clientId, error, reason: /secret/ }, paths.revoke);
  });

  it("tells what is wrong with an assertion", async () => {
    const method = { auth_method_type: "OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT" };
    const app = await service.addClient(method);
    const { clientId, appId } = app;
    const key = await service.addAppKey(appId);
    const seconds = Math.floor(service.now().getTime() / 1000);
    const usual = {
      iss: clientId,
      sub: clientId,
      aud: service.issuer,
      jti: randomUUID(),
      iat: seconds,
      exp: seconds + 60,
    };
    const sent = (claims: Record<string, unknown>, kid = key.keyId) => ({
      ...redeem("x"),
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: forgeJwt({ alg: "RS256", kid }, claims, key.privateKey),
    });
    const expected = (reason: RegExp) => ({ clientId, error: "invalid_client", reason });
    const cases: [Record<string, string>, RegExp][] = [
      [sent({ ...usual, aud: "https://other.test" }), /"aud"/],
      [sent({ ...usual, exp: seconds - 60 }), /"exp"/],
      [sent({ ...usual, exp: seconds + 7_200 }), /longer than an hour/],
      [sent({ ...usual, jti: undefined }), /jti/],
      [sent(usual, "404"), /no key/],
    ];
    for (const [form, reason] of cases) await refused(form, {}, expected(reason));
    const once = sent(usual);
    assert.equal((await send(paths.token, once)).body.error, "invalid_grant");
    const code = await service.codeFor(app, await service.addPerson());
    await refused({ ...once, code }, {}, expected(/used before/));
  });

  it("names the client and what is wrong with what it sent", async () => {
    const [web, other] = [await service.addClient(), await service.addClient()];
    const user = await service.addPerson();
    const { clientId } = web;
    const error = "invalid_grant";
    const by = basic(web);
    await refused(redeem("x"), by, { clientId, error, reason: /code is unknown$/ });
    const foreign = redeem(await service.codeFor(other, user));
    await refused(foreign, by, { clientId, error, reason: /issued to another client/ });
    const { challenge: codeChallenge } = pkce();
    const code = await service.codeFor(web, user, { codeChallenge });
    await refused(redeem(code), by, { clientId, error, reason: /code verifier/ });
    const elsewhere = redeem(await service.codeFor(web, user), { redirect_uri: "https://x.test" });
    await refused(elsewhere, by, { clientId, error, reason: /redirect URI/ });
    const renew = { grant_type: "refresh_token", refresh_token: "x" };
    await refused(renew, by, { clientId, error, reason: /refresh token is unknown/ });
    const gone = await service.addPerson();
    const late = redeem(await service.codeFor(web, gone));
    await service.post(`/users/${gone}/_deactivate`);
    await refused(late, by, { clientId, error, reason: /the user is not active/ });
    const grant = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: "x" };
    await refused(grant, by, { clientId, error: "unauthorized_client", reason: /no grant/ });
    const bearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const assertion = { grant_type: bearer, assertion: "a.b.c", scope: "openid" };
    await refused(assertion, {}, { error, reason: /no key/ });
  });
});
