// Run: shared
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { assertRefused, basic, paths } from "../support/oidc.ts";
import { forgeJwt } from "../support/forge.ts";
import { startExchange } from "./exchange-peer.ts";

const exchange = await startExchange();
const { service, web, user, type, subjectOf, actorOf, ask } = exchange;
const { allowImpersonation, addImpersonator } = exchange;
const { issuer, addClient, addPerson, tokensFor, introspect, post, events } = service;
after(() => service[Symbol.asyncDispose]());

const userIdType = "urn:idsvc:params:oauth:token-type:user_id";
const seconds = () => Math.floor(service.now().getTime() / 1000);

describe("token exchange (RFC 8693)", () => {
  it("gives another token of the same user: opaque, as a JWT, or an ID token", async () => {
    const first = await tokensFor(web, user, { scope: ["openid", "profile", "offline_access"] });
    const { body: opaque } = await ask(subjectOf(first.access_token));
    assert.match(opaque.access_token, /^idsvc_at_/);
    assert.equal(opaque.issued_token_type, type("access_token"));
    assert.equal(opaque.token_type, "Bearer");
    assert.equal(opaque.scope, "openid");
    assert.equal(decodeJwt(opaque.id_token).sub, user);
    assert.equal(opaque.refresh_token, undefined);
    assert.equal((await introspect(opaque.access_token, web)).active, true);

    const asJwt = { ...subjectOf(first.id_token, "id_token"), requested_token_type: type("jwt") };
    const { body: jwt } = await ask({ ...asJwt, scope: "profile offline_access" });
    assert.equal(jwt.issued_token_type, type("jwt"));
    assert.equal(decodeJwt(jwt.access_token).sub, user);
    assert.equal(jwt.id_token, undefined);
    assert.match(jwt.refresh_token, /^idsvc_rt_/);

    const asId = { ...subjectOf(first.access_token), requested_token_type: type("id_token") };
    const { body: id } = await ask(asId);
    assert.equal(id.issued_token_type, type("id_token"));
    assert.equal(id.token_type, "N_A");
    assert.equal(decodeJwt(id.access_token).sub, user);
    assert.deepEqual(Object.keys(id).sort(), [
      "access_token",
      "expires_in",
      "issued_token_type",
      "scope",
      "token_type",
    ]);
  });

  it("needs the grant of the app", async () => {
    const other = await addClient();
    const first = await tokensFor(other, user);
    assertRefused(await ask(subjectOf(first.access_token), other), 400, "unauthorized_client");
  });

  it("refuses what the matrix does not hold (specification 4.3.2)", async () => {
    const { access_token: token, refresh_token: refresh } = await tokensFor(web, user, {
      scope: ["openid", "offline_access"],
    });
    const good = subjectOf(token);
    const without = (name: keyof typeof good) => {
      const { [name]: _, ...rest } = good;
      return rest;
    };
    const invalid = [
      without("subject_token"),
      without("subject_token_type"),
      without("scope"),
      subjectOf(refresh, "refresh_token"),
      subjectOf(token, "saml2"),
      subjectOf("x"),
      subjectOf(token, "id_token"),
      { ...good, requested_token_type: type("refresh_token") },
      { ...good, requested_token_type: userIdType },
      { ...good, actor_token: token },
      { ...good, actor_token_type: type("access_token") },
      { ...good, ...actorOf(refresh, "refresh_token") },
      { ...good, ...actorOf("a.b.c", "jwt") },
      { ...good, actor_token: user, actor_token_type: userIdType },
      { ...good, subject_token: user, subject_token_type: userIdType },
    ];
    for (const form of invalid) assertRefused(await ask(form), 400, "invalid_request");
    assertRefused(await ask({ ...good, resource: "https://rp.test" }), 400, "invalid_target");
    assertRefused(await ask({ ...good, audience: "404" }), 400, "invalid_target");
    assertRefused(await ask({ ...good, scope: "bogus" }), 400, "invalid_scope");
  });

  it("narrows the audience, and never widens it", async () => {
    const first = await tokensFor(web, user);
    const narrow = { ...subjectOf(first.access_token), audience: web.projectId };
    const { body } = await ask(narrow);
    assert.deepEqual((await introspect(body.access_token, web)).aud, [web.projectId]);
    const apis = "urn:idsvc:iam:org:project:id:idsvc:aud";
    const wider = await ask({ ...subjectOf(first.access_token), scope: `openid ${apis}` });
    const call = await service.get(`/users/${user}`, { token: wider.body.access_token });
    assert.equal(call.status, 401);
  });

  it("refuses an audience of which only a part is the token's", async () => {
    const other = await addClient();
    const { access_token } = await tokensFor(web, user);
    const audience = `${web.projectId} ${other.projectId}`;
    assertRefused(await ask({ ...subjectOf(access_token), audience }), 400, "invalid_target");
  });

  it("takes a token of which a part of the audience is the client's, and gives no more than that audience", async () => {
    const asking = await addClient({
      grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_TOKEN_EXCHANGE"],
    });
    const third = await addClient();
    const scope = ["openid", `urn:idsvc:iam:org:project:id:${asking.projectId}:aud`];
    const { access_token } = await tokensFor(web, user, { scope });
    const { body, text } = await ask(subjectOf(access_token), asking);
    const { aud } = await introspect(body.access_token, asking);
    assert.ok(aud.includes(asking.projectId) && aud.includes(web.projectId), text);
    assertRefused(await ask(subjectOf(access_token), third), 400, "unauthorized_client");
  });

  it("gives for an ID token no scope that another client was given", async () => {
    const person = await addPerson();
    const other = await addClient();
    await tokensFor(other, person, { scope: ["openid", "profile"] });
    const { id_token } = await tokensFor(web, person);
    const wider = { ...subjectOf(id_token, "id_token"), scope: "openid profile" };
    assertRefused(await ask(wider), 400, "invalid_scope");
  });

  it("takes only tokens that are for the client that asks", async () => {
    const other = await addClient({
      grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_TOKEN_EXCHANGE"],
    });
    const first = await tokensFor(web, user);
    assertRefused(await ask(subjectOf(first.access_token), other), 400, "invalid_request");
    assertRefused(await ask(subjectOf(first.id_token, "id_token"), other), 400, "invalid_request");
  });

  it("judges an ID token by the audience that it was issued with, which it does not tell", async () => {
    const exchanger = {
      grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_TOKEN_EXCHANGE"],
    };
    const sibling = await addClient(exchanger, { project_id: web.projectId });
    const [other, asked] = [await addClient(exchanger), await addClient(exchanger)];
    const scope = ["openid", `urn:idsvc:iam:org:project:id:${asked.projectId}:aud`];
    const { id_token: token } = await tokensFor(web, user, { scope });
    assert.deepEqual(decodeJwt(token).aud, [web.clientId]);
    assertRefused(await ask(subjectOf(token, "id_token"), other), 400, "invalid_request");
    for (const by of [sibling, asked]) {
      const answer = await ask(subjectOf(token, "id_token"), by);
      assert.equal(answer.status, 200, answer.text);
      const { aud } = await introspect(answer.body.access_token, by);
      for (const id of [web.clientId, sibling.clientId, web.projectId, asked.projectId]) {
        assert.ok(aud.includes(id), id);
      }
      assert.ok(!aud.includes(other.clientId));
      // What is issued for it is for the client that asked.
      assert.deepEqual(decodeJwt(answer.body.id_token).aud, [by.clientId]);
    }
    const narrow = { ...subjectOf(token, "id_token"), audience: asked.projectId };
    const wanted = { ...narrow, requested_token_type: type("id_token") };
    const { body, text } = await ask(wanted);
    assert.equal(body.issued_token_type, type("id_token"), text);
    assert.deepEqual(decodeJwt(body.access_token).aud, [web.clientId]);
    const again = subjectOf(body.access_token, "id_token");
    assertRefused(await ask(again, sibling), 400, "invalid_request");
    assert.equal((await ask(again, asked)).status, 200);
  });

  it("takes an ID token that was issued while exchange was off as one for its client alone", async () => {
    const { token: bearer } = service.app;
    const setFlag = async (set: boolean) => {
      const settings = { oidc_token_exchange: { set } };
      const path = "/settings/v3alpha/features";
      const answer = await service.peer.rest("PATCH", path, settings, { token: bearer });
      assert.equal(answer.status, 200, answer.refusal?.message);
    };
    const sibling = await addClient(
      { grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_TOKEN_EXCHANGE"] },
      { project_id: web.projectId },
    );
    await setFlag(false);
    const { id_token: token } = await tokensFor(web, user);
    await setFlag(true);
    assertRefused(await ask(subjectOf(token, "id_token"), sibling), 400, "invalid_request");
    assert.equal((await ask(subjectOf(token, "id_token"))).status, 200);
  });

  it("D31: takes no dead input, and none of another kind", async () => {
    const first = await tokensFor(web, user);
    await service.send(paths.revoke, { token: first.access_token }, basic(web));
    assertRefused(await ask(subjectOf(first.access_token)), 400, "invalid_request");
    const [head, claims] = first.id_token.split(".");
    const forged = [`${head}.${claims}.`, `${head}.${claims}.AAAA`];
    for (const jwt of forged)
      assertRefused(await ask(subjectOf(jwt, "id_token")), 400, "invalid_request");
    service.pass(43_201_000);
    assertRefused(await ask(subjectOf(first.id_token, "id_token")), 400, "invalid_request");
  });
});

describe("impersonation and delegation (RFC 8693 section 4.1)", () => {
  it("is off unless the instance allows it", async () => {
    const actor = await tokensFor(web, await addImpersonator());
    const subject = { subject_token: user, subject_token_type: userIdType, scope: "openid" };
    const form = { ...subject, ...actorOf(actor.access_token) };
    assertRefused(await ask(form), 400, "invalid_request");
    await allowImpersonation();
    assert.equal((await ask(form)).status, 200);
  });

  it("needs the permission on the subject's organization, and a further one for administrators", async () => {
    const plain = await tokensFor(web, await addPerson());
    const [weak, strong] = [
      await addImpersonator(),
      await addImpersonator("ORG_ADMIN_IMPERSONATOR"),
    ];
    const subject = (id: string) => ({
      subject_token: id,
      subject_token_type: userIdType,
      scope: "openid",
    });
    const by = async (id: string) => actorOf((await tokensFor(web, id)).access_token);
    const refused = { ...subject(user), ...actorOf(plain.access_token) };
    assertRefused(await ask(refused), 400, "invalid_request");
    const { user_id: root } = service.app.made.admin;
    assertRefused(await ask({ ...subject(root), ...(await by(weak)) }), 400, "invalid_request");
    const taken = await ask({ ...subject(root), ...(await by(strong)) });
    assert.equal(taken.status, 200, taken.text);
    const organization = await service.addOrganization();
    const elsewhere = await service.addMember(organization, []);
    const away = { ...subject(elsewhere.userId), ...(await by(strong)) };
    assertRefused(await ask(away), 400, "invalid_request");
  });

  it("calls our APIs with no more than both may do (J2a)", async () => {
    await allowImpersonation();
    const [subject, helper] = [await addPerson(), await addImpersonator("ORG_ADMIN_IMPERSONATOR")];
    const ctx = { instance_id: service.at.instanceId };
    await post("/memberships", { ctx, user_id: subject, roles: ["IAM_OWNER"] });
    const scope = ["openid", "urn:idsvc:iam:org:project:id:idsvc:aud"];
    const own = await tokensFor(web, subject, { scope });
    const actor = await tokensFor(web, helper, { scope });
    const form = { ...subjectOf(own.access_token), ...actorOf(actor.access_token) };
    const { body, text } = await ask({ ...form, scope: scope.join(" ") });
    const reads = async (token: string, id: string) =>
      (await service.get(`/users/${id}`, { token })).status;
    assert.equal(await reads(own.access_token, user), 200, text);
    assert.equal(await reads(body.access_token, subject), 200, text);
    assert.equal(await reads(body.access_token, user), 404);
  });

  it("keeps the chain of those who acted, takes time and way of login from the actor, and tells the log", async () => {
    const [one, two] = [await addImpersonator(), await addImpersonator()];
    const first = await tokensFor(web, user, { amr: ["otp"] });
    const byOne = await tokensFor(web, one, { amr: ["pwd"] });
    const { body: delegated } = await ask({
      ...subjectOf(first.access_token),
      ...actorOf(byOne.access_token),
    });
    const seen = await introspect(delegated.access_token, web);
    assert.equal(seen.sub, user);
    assert.deepEqual(seen.act, { iss: issuer, sub: one });
    assert.deepEqual(decodeJwt(delegated.id_token)["amr"], ["pwd"]);
    const byTwo = await tokensFor(web, two);
    const { body: again } = await ask({
      ...subjectOf(delegated.access_token),
      ...actorOf(byTwo.id_token, "id_token"),
      requested_token_type: type("jwt"),
    });
    const act = { iss: issuer, sub: two, act: { iss: issuer, sub: one } };
    assert.deepEqual(decodeJwt(again.access_token)["act"], act);
    const told = (await events("user.impersonated")).at(-1);
    assert.equal(told?.editorId, two);
    assert.equal(told.clientId, web.clientId);
    assert.deepEqual(Object(told.payload).actor, act);
    assert.equal(Object(told.payload).userId, user);
    // Who acts stays known when the token is exchanged without an actor.
    const { body: kept } = await ask(subjectOf(again.access_token));
    assert.deepEqual((await introspect(kept.access_token, web)).act, act);
  });

  it("takes a JWT that the client signed about a user, once, with an actor", async () => {
    const keyed = await addClient({
      auth_method_type: "OIDC_AUTH_METHOD_TYPE_BASIC",
      grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_TOKEN_EXCHANGE"],
    });
    const key = await service.addAppKey(keyed.appId);
    const claims = (more = {}) => ({
      iss: keyed.clientId,
      sub: user,
      aud: issuer,
      jti: randomUUID(),
      iat: seconds(),
      exp: seconds() + 60,
      ...more,
    });
    const sign = (more = {}) =>
      forgeJwt({ alg: "RS256", kid: key.keyId }, claims(more), key.privateKey);
    const actor = actorOf((await tokensFor(keyed, await addImpersonator())).access_token);
    const once = { ...subjectOf(sign(), "jwt"), ...actor };
    const { status, body } = await ask(once, keyed);
    assert.equal(status, 200);
    assert.equal((await introspect(body.access_token, keyed)).sub, user);
    for (const form of [
      once,
      subjectOf(sign(), "jwt"),
      { ...subjectOf(sign({ iss: web.clientId }), "jwt"), ...actor },
      { ...subjectOf(sign({ sub: "404" }), "jwt"), ...actor },
      { ...subjectOf(sign({ exp: seconds() - 60 }), "jwt"), ...actor },
    ]) {
      assertRefused(await ask(form, keyed), 400, "invalid_request");
    }
  });
});
