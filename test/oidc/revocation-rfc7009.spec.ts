// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import * as oidc from "openid-client";
import { assertRefused, basic, paths, relyingParty, startOidc } from "../support/oidc.ts";

const service = await startOidc();
const { send, addClient, addMachine, addPerson, tokensFor, introspect, events } = service;
after(() => service[Symbol.asyncDispose]());

const web = await addClient();
const user = await addPerson();
const scope = ["openid", "offline_access"];
const revoke = (token: string, by = web) => send(paths.revoke, { token }, basic(by));
const isActive = async (token: string) => (await introspect(token, web)).active;

describe("revocation (RFC 7009)", () => {
  it("D38: an access token ends alone, also told twice", async () => {
    const issued = await tokensFor(web, user, { scope });
    for (const _ of [1, 2]) {
      const answer = await revoke(issued.access_token);
      assert.equal(answer.status, 200);
      assert.equal(answer.text, "");
      assert.equal(answer.headers.get("cache-control"), "no-store");
    }
    assert.equal(await isActive(issued.access_token), false);
    const form = { grant_type: "refresh_token", refresh_token: issued.refresh_token };
    const { status, body } = await send(paths.token, form, basic(web));
    assert.equal(status, 200);
    assert.equal(await isActive(body.access_token), true);
    assert.equal((await events("user.token.removed")).length, 1);
  });

  it("D38: a refresh token ends with its access tokens", async () => {
    const issued = await tokensFor(web, user, { scope });
    for (const _ of [1, 2]) assert.equal((await revoke(issued.refresh_token)).status, 200);
    assert.equal(await isActive(issued.access_token), false);
    const form = { grant_type: "refresh_token", refresh_token: issued.refresh_token };
    assertRefused(await send(paths.token, form, basic(web)), 400, "invalid_grant");
    const removed = await events("user.human.refresh.token.removed");
    assert.equal(removed.length, 1);
  });

  it("D38: what is unknown is a success; what another client got is refused and lives", async () => {
    for (const token of ["x", "idsvc_at_unknown", "a.b.c"]) {
      assert.equal((await revoke(token)).status, 200);
    }
    const other = await addClient();
    const issued = await tokensFor(web, user, { scope });
    for (const token of [issued.access_token, issued.refresh_token]) {
      assertRefused(await revoke(token, other), 400, "invalid_grant");
    }
    assert.equal(await isActive(issued.access_token), true);
    const form = { grant_type: "refresh_token", refresh_token: issued.refresh_token };
    assert.equal((await send(paths.token, form, basic(web))).status, 200);
  });

  it("works with openid-client, and for clients without a secret", async () => {
    const spa = await addClient({
      app_type: "OIDC_APP_TYPE_USER_AGENT",
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_NONE",
    });
    const config = await relyingParty(service, spa.clientId, oidc.None());
    const code = await service.codeFor(spa, user);
    const answer = new URL(`https://rp.test/cb?code=${code}&iss=${service.issuer}`);
    const tokens = await oidc.authorizationCodeGrant(config, answer);
    assert.equal((await service.userinfo(tokens.access_token)).status, 200);
    await oidc.tokenRevocation(config, tokens.access_token);
    assert.equal((await service.userinfo(tokens.access_token)).status, 401);
  });

  it("is open to machine users for what they got themselves", async () => {
    const machine = await addMachine();
    const form = { grant_type: "client_credentials", scope: "openid" };
    const { body } = await send(paths.token, form, basic(machine));
    assert.equal((await service.userinfo(body.access_token)).status, 200);
    const by = { ...web, ...machine };
    assert.equal((await revoke(body.access_token, by)).status, 200);
    assert.equal((await service.userinfo(body.access_token)).status, 401);
  });

  it("refuses who does not authenticate, and who names no token", async () => {
    const { access_token: token } = await tokensFor(web, user, { scope });
    assertRefused(await send(paths.revoke, { token }), 401, "invalid_client");
    const wrong = { ...web, secret: "x" };
    assertRefused(await revoke(token, wrong), 401, "invalid_client");
    assertRefused(await send(paths.revoke, {}, basic(web)), 400, "invalid_request");
    assert.equal(await isActive(token), true);
  });
});
