// Run: shared
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { after, describe, it } from "node:test";
import {
  assertRefused,
  basic,
  type MadeClient,
  type MadeKey,
  paths,
  redirectUri,
  startOidc,
} from "../support/oidc.ts";
import { forgeJwt } from "../support/forge.ts";
import { badAssertions } from "./assertion-cases.ts";

const service = await startOidc();
const { issuer, send, addClient, addAppKey, addMachine, addPerson, codeFor } = service;
after(() => service[Symbol.asyncDispose]());

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const seconds = () => Math.floor(service.now().getTime() / 1000);
const user = await addPerson();
const web = await addClient();
const jwtc = await addClient({ auth_method_type: "OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT" });
const key = await addAppKey(jwtc.appId);
const claimsOf = ({ clientId }: MadeClient, more = {}) => ({
  iss: clientId,
  sub: clientId,
  aud: issuer,
  jti: randomUUID(),
  iat: seconds(),
  exp: seconds() + 300,
  ...more,
});
const signed = (by: MadeKey, claims: Record<string, unknown>) =>
  forgeJwt({ alg: "RS256", kid: by.keyId }, claims, by.privateKey);
const withAssertion = (client_assertion: string) => ({
  client_assertion,
  client_assertion_type: assertionType,
});
const redeem = async (client: MadeClient) => ({
  grant_type: "authorization_code",
  code: await codeFor(client, user),
  redirect_uri: redirectUri,
});
// What needs nothing but the proof of the client: an unknown code comes after it.
const nothing = { grant_type: "authorization_code", code: "none", redirect_uri: redirectUri };

describe("client authentication (RFC 6749 section 2.3)", () => {
  it("takes each method from the clients that are registered for it, and no other", async () => {
    const post = await addClient({ auth_method_type: "OIDC_AUTH_METHOD_TYPE_POST" });
    const inBody = ({ clientId, secret }: MadeClient) => ({
      client_id: clientId,
      client_secret: secret,
    });
    const spa = await addClient({
      app_type: "OIDC_APP_TYPE_USER_AGENT",
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
    });
    const right: [MadeClient, Record<string, string>, Record<string, string>][] = [
      [web, {}, basic(web)],
      [post, inBody(post), {}],
      [spa, { client_id: spa.clientId }, {}],
      [jwtc, withAssertion(signed(key, claimsOf(jwtc))), {}],
    ];
    for (const [client, more, headers] of right) {
      const answer = await send(paths.token, { ...(await redeem(client)), ...more }, headers);
      assert.equal(answer.status, 200, answer.text);
    }
    for (const [more, headers] of [
      [inBody(web), {}],
      [{}, basic(post)],
      [{ client_id: web.clientId }, {}],
      [{ client_id: jwtc.clientId }, {}],
    ]) {
      const answer = await send(paths.token, { ...nothing, ...more }, headers);
      assertRefused(answer, 401, "invalid_client");
    }
    assertRefused(await send(paths.token, nothing), 401, "invalid_client");
  });

  it("D17: two ways at once are one too many", async () => {
    const assertion = withAssertion(signed(key, claimsOf(jwtc)));
    const secret = { client_id: web.clientId, client_secret: web.secret };
    const cases: [Record<string, string>, Record<string, string>][] = [
      [secret, basic(web)],
      [assertion, basic(web)],
      [{ ...secret, ...assertion }, {}],
      [{ client_id: jwtc.clientId }, basic(web)],
    ];
    for (const [more, headers] of cases) {
      const answer = await send(paths.token, { ...nothing, ...more }, headers);
      assertRefused(answer, 400, "invalid_request");
    }
    const alone = { client_assertion: "a.b.c" };
    assertRefused(await send(paths.token, { ...nothing, ...alone }), 400, "invalid_request");
  });

  it("D17: two Authorization headers are one too many", async () => {
    const { authorization } = basic(web);
    const body = new URLSearchParams(nothing).toString();
    const head = [
      `POST ${paths.token} HTTP/1.1`,
      `Host: localhost:${service.app.port}`,
      `Authorization: ${authorization}`,
      `Authorization: ${authorization}`,
      "Content-Type: application/x-www-form-urlencoded",
      `Content-Length: ${body.length}`,
      "Connection: close",
    ];
    const text = await new Promise<string>((resolve, reject) => {
      let said = "";
      const socket = connect(service.app.port, "127.0.0.1", () =>
        socket.write(`${head.join("\r\n")}\r\n\r\n${body}`),
      );
      socket.setEncoding("utf8").on("data", (more) => (said += String(more)));
      socket.on("end", () => resolve(said)).on("error", reject);
    });
    assert.match(text, /^HTTP\/1\.1 400 /);
    assert.match(text, /"error":"invalid_request"/);
  });

  it("D18: a wrong secret, an unknown client and a deactivated one look alike", async () => {
    const off = await addClient();
    await service.post(`/apps/${off.appId}/_deactivate`);
    const tried = [{ ...web, secret: off.secret }, { ...web, clientId: "404" }, off];
    const bodies = new Set<string>();
    for (const client of tried) {
      const answer = await send(paths.token, nothing, basic(client));
      assertRefused(answer, 401, "invalid_client");
      assert.match(answer.headers.get("www-authenticate") ?? "", /^Basic /);
      bodies.add(answer.text);
    }
    assert.equal(bodies.size, 1);
    const inBody = { client_id: "404", client_secret: "x" };
    const byBody = await send(paths.token, { ...nothing, ...inBody });
    assertRefused(byBody, 401, "invalid_client");
    assert.equal(byBody.headers.get("www-authenticate"), null);
  });

  it("D19: id and secret are form-encoded before they are joined", async () => {
    const name = "a:b%c+d é ü";
    const machine = await addMachine(name);
    assert.equal(machine.clientId, name);
    const form = { grant_type: "client_credentials", scope: "openid" };
    assert.equal((await send(paths.token, form, basic(machine))).status, 200);
    const broken = Buffer.from(`%zz:${machine.secret}`).toString("base64");
    const headers = { authorization: `Basic ${broken}` };
    assertRefused(await send(paths.token, form, headers), 401, "invalid_client");
    for (const authorization of ["Basic", "Basic !!", "Bearer abc", "Basic bm9jb2xvbg=="]) {
      assertRefused(await send(paths.token, form, { authorization }), 401, "invalid_client");
    }
  });
});

describe("client assertions (RFC 7523 section 2.2)", () => {
  const ask = (assertion: string, more = {}) =>
    send(paths.token, { ...nothing, ...withAssertion(assertion), ...more });

  for (const { id, what, jwt } of badAssertions(key, () => claimsOf(jwtc), seconds())) {
    it(`${id}: refuses ${what}`, async () => {
      assertRefused(await ask(jwt), 401, "invalid_client");
    });
  }

  it("D30: refuses one without jti, or of somebody else", async () => {
    for (const more of [{ jti: undefined }, { sub: web.clientId }, { iss: web.clientId }]) {
      assertRefused(await ask(signed(key, claimsOf(jwtc, more))), 401, "invalid_client");
    }
    const named = await ask(signed(key, claimsOf(jwtc)), { client_id: web.clientId });
    assertRefused(named, 401, "invalid_client");
  });

  it("D30: takes the address of the token endpoint unless the app is strict", async () => {
    const aud = `${issuer}${paths.token}`;
    const usual = await send(paths.token, {
      ...(await redeem(jwtc)),
      ...withAssertion(signed(key, claimsOf(jwtc, { aud }))),
    });
    assert.equal(usual.status, 200, usual.text);
    const strict = await addClient({
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT",
      strict_assertion_audience: true,
    });
    const strictKey = await addAppKey(strict.appId);
    const asked = async (claims: Record<string, unknown>) =>
      send(paths.token, {
        ...(await redeem(strict)),
        ...withAssertion(signed(strictKey, claims)),
      });
    assertRefused(await asked(claimsOf(strict, { aud })), 401, "invalid_client");
    assert.equal((await asked(claimsOf(strict))).status, 200);
  });

  it("D30: a jti counts once, also of ten at once, and at every endpoint", async () => {
    const assertion = signed(key, claimsOf(jwtc));
    const forms = await Promise.all(Array.from({ length: 10 }, () => redeem(jwtc)));
    const answers = await Promise.all(
      forms.map((form) => send(paths.token, { ...form, ...withAssertion(assertion) })),
    );
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const answer of answers) {
      if (answer.status !== 200) assertRefused(answer, 401, "invalid_client");
    }
    for (const path of [paths.introspect, paths.revoke]) {
      const form = { token: "x", ...withAssertion(assertion) };
      assertRefused(await send(path, form), 401, "invalid_client");
      const once = { token: "x", ...withAssertion(signed(key, claimsOf(jwtc))) };
      assert.equal((await send(path, once)).status, 200);
      assertRefused(await send(path, once), 401, "invalid_client");
    }
  });

  it("D92: a jti is spent when its signature was good, whatever becomes of the grant (J18)", async () => {
    for (const form of [
      { grant_type: "authorization_code", code: "unknown", redirect_uri: "https://rp.test/cb" },
      { grant_type: "refresh_token", refresh_token: "unknown" },
      { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: "unknown" },
    ]) {
      const assertion = withAssertion(signed(key, claimsOf(jwtc)));
      const failed = await send(paths.token, { ...form, ...assertion });
      assert.equal(failed.status, 400, failed.text);
      const again = { ...(await redeem(jwtc)), ...assertion };
      assertRefused(await send(paths.token, again), 401, "invalid_client");
    }
  });

  it("D28: refuses a key past its date, a removed one, and that of a deactivated app", async () => {
    const app = await addClient({ auth_method_type: "OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT" });
    const expiration_date = new Date(service.now().getTime() + 60_000).toISOString();
    const short = await addAppKey(app.appId, { expiration_date });
    const removed = await addAppKey(app.appId);
    const asked = async (by: MadeKey) => ask(signed(by, claimsOf(app)));
    assertRefused(await asked(removed), 400, "invalid_grant");
    await service.remove(`/apps/${app.appId}/keys/${removed.keyId}`);
    assertRefused(await asked(removed), 401, "invalid_client");
    service.pass(61_000);
    assertRefused(await asked(short), 401, "invalid_client");
    const last = await addAppKey(app.appId);
    await service.post(`/apps/${app.appId}/_deactivate`);
    assertRefused(await asked(last), 401, "invalid_client");
  });
});
