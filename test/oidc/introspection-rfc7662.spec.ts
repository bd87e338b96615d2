// Run: shared
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, it } from "node:test";
import { assertRefused, basic, paths, startOidc } from "../support/oidc.ts";
import { forgeJwt } from "../support/forge.ts";

const service = await startOidc();
const { issuer, send, addApi, addClient, addPerson, tokensFor, introspect } = service;
after(() => service[Symbol.asyncDispose]());

const web = await addClient();
const api = await addApi("BASIC", web.projectId);
const user = await addPerson({
  username: "ada",
  contact: { email: { address: "ada@rp.test", is_verified: true } },
});
const scope = ["openid", "email", "offline_access"];
const seconds = () => Math.floor(service.now().getTime() / 1000);

describe("introspection (RFC 7662)", () => {
  it("tells everything that is specified (specification 4.3.3), to the APIs of the project", async () => {
    const { access_token: token } = await tokensFor(web, user, { scope });
    const seen = await introspect(token, api);
    const { exp, iat, nbf, jti, auth_time, ...rest } = seen;
    assert.ok(Math.abs(iat - seconds()) <= 2);
    assert.equal(nbf, iat);
    assert.ok(Math.abs(auth_time - seconds()) <= 2);
    assert.equal(exp - iat, 43_200);
    assert.match(jti, /^\d+$/);
    const names = await service.get(`/users/${user}`);
    const loginName = Object(names.json).user.user.login_names[0];
    assert.match(loginName, /^ada@/);
    assert.deepEqual(rest, {
      active: true,
      iss: issuer,
      sub: user,
      aud: [web.clientId, web.projectId, api.clientId],
      client_id: web.clientId,
      scope: scope.join(" "),
      token_type: "Bearer",
      username: loginName,
      email: "ada@rp.test",
      email_verified: true,
    });
  });

  it("takes private_key_jwt", async () => {
    const keyed = await addApi("PRIVATE_KEY_JWT", web.projectId);
    const { keyId, privateKey } = await service.addAppKey(keyed.appId);
    const { access_token: token } = await tokensFor(web, user, { scope });
    const claims = {
      iss: keyed.clientId,
      sub: keyed.clientId,
      aud: issuer,
      jti: randomUUID(),
      iat: seconds(),
      exp: seconds() + 60,
    };
    const form = {
      token,
      client_assertion: forgeJwt({ alg: "RS256", kid: keyId }, claims, privateKey),
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    };
    const { body } = await send(paths.introspect, form);
    assert.equal(body.active, true);
    assertRefused(await send(paths.introspect, form), 401, "invalid_client");
  });

  it("D37: {active: false} and nothing else, whatever the token lacks", async () => {
    const inactive = { active: false };
    const issued = await tokensFor(web, user, { scope });
    const token = issued.access_token;
    const foreign = await addApi("BASIC");
    assert.deepEqual(await introspect(token, foreign), inactive);
    for (const other of [
      "x",
      "a.b.c",
      token.slice(0, -1),
      `${token}A`,
      token.toUpperCase(),
      "x".repeat(20_000),
      issued.id_token,
      issued.refresh_token,
      service.app.token,
    ]) {
      assert.deepEqual(await introspect(other, api), inactive);
    }
    const { text } = await send(paths.introspect, { token: "x" }, basic(api));
    assert.equal(text, '{"active":false}');
    await send(paths.revoke, { token }, basic(web));
    assert.deepEqual(await introspect(token, api), inactive);
    const old = await tokensFor(web, user, { scope });
    service.pass(43_200_000 + 1000);
    assert.deepEqual(await introspect(old.access_token, api), inactive);
  });

  it("D37: who does not authenticate is refused with 401 invalid_client", async () => {
    const { access_token: token } = await tokensFor(web, user, { scope });
    assertRefused(await send(paths.introspect, { token }), 401, "invalid_client");
    const post = await addClient({ auth_method_type: "OIDC_AUTH_METHOD_TYPE_POST" });
    const inBody = { client_id: post.clientId, client_secret: post.secret };
    assertRefused(await send(paths.introspect, { token, ...inBody }), 401, "invalid_client");
    const named = { token, client_id: web.clientId };
    assertRefused(await send(paths.introspect, named), 401, "invalid_client");
    const wrong = basic({ ...api, secret: "x" });
    assertRefused(await send(paths.introspect, { token }, wrong), 401, "invalid_client");
    assertRefused(await send(paths.introspect, {}, basic(api)), 400, "invalid_request");
    const got = await fetch(`${issuer}${paths.introspect}?token=x`, { headers: basic(api) });
    assert.equal(got.status, 405);
  });

  it("tells roles of the project of the one who asks, and of no other", async () => {
    const other = await addClient();
    for (const project_id of [web.projectId, other.projectId]) {
      await service.post("/project_roles", { project_id, key: "editor", display_name: "Editor" });
      const grant = { user_id: user, project_id, role_keys: ["editor"] };
      assert.equal((await service.post("/user_grants", grant)).status, 201);
    }
    const asked = [
      "openid",
      "urn:idsvc:iam:org:projects:roles",
      `urn:idsvc:iam:org:project:id:${other.projectId}:aud`,
    ];
    const { access_token: token } = await tokensFor(web, user, { scope: asked });
    const seen = await introspect(token, api);
    const told = Object.keys(seen).filter((name) => name.startsWith("urn:"));
    assert.deepEqual(told.sort(), [
      `urn:idsvc:iam:org:project:${web.projectId}:roles`,
      "urn:idsvc:iam:org:project:roles",
    ]);
    const fromOther = await introspect(token, other);
    assert.ok(fromOther[`urn:idsvc:iam:org:project:${other.projectId}:roles`]);
    assert.equal(fromOther[`urn:idsvc:iam:org:project:${web.projectId}:roles`], undefined);
  });
});
