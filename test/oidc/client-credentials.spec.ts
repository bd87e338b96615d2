// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as oidc from "openid-client";
import {
  assertRefused,
  basic,
  type MadeMachine,
  paths,
  relyingParty,
  startOidc,
} from "../support/oidc.ts";

const service = await startOidc();
const { send, addMachine, addClient, introspect, events, addApi } = service;
after(() => service[Symbol.asyncDispose]());

const apis = "urn:idsvc:iam:org:project:id:idsvc:aud";
const wantedOf = ({ id, clientId }: MadeMachine) => ({ sub: id, client_id: clientId });
const asked = (scope: string) => ({ grant_type: "client_credentials", scope });

describe("client credentials (RFC 6749 section 4.4)", () => {
  it("gives an opaque token, by the header and by the body", async () => {
    const machine = await addMachine();
    const byHeader = await send(paths.token, asked("openid"), basic(machine));
    const body = { client_id: machine.clientId, client_secret: machine.secret };
    const byBody = await send(paths.token, { ...asked("openid"), ...body });
    for (const { status, body: fields, headers } of [byHeader, byBody]) {
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.get("content-type"), "application/json");
      assert.match(fields.access_token, /^idsvc_at_[0-9a-z]{9}[\w-]{43}$/);
      assert.deepEqual(
        { ...fields, access_token: "" },
        { access_token: "", token_type: "Bearer", expires_in: 43_200, scope: "openid" },
      );
    }
    assert.notEqual(byHeader.body.access_token, byBody.body.access_token);
  });

  it("works with openid-client, found by discovery", async () => {
    const machine = await addMachine();
    const auth = oidc.ClientSecretBasic(machine.secret);
    const config = await relyingParty(service, machine.clientId, auth);
    const tokens = await oidc.clientCredentialsGrant(config, { scope: "openid" });
    assert.equal(tokens.token_type, "bearer");
    assert.ok(Math.abs((tokens.expiresIn() ?? 0) - 43_200) <= 1);
  });

  it("opens the APIs by the scope of the service's own project, and only by it (B5)", async () => {
    const machine = await addMachine();
    const token = async (scope: string) =>
      (await send(paths.token, asked(scope), basic(machine))).body.access_token;
    const call = async (bearer: string) =>
      (await service.get(`/users/${machine.id}`, { token: bearer })).status;
    assert.equal(await call(await token(`openid ${apis}`)), 200);
    assert.equal(await call(await token("openid")), 401);
  });

  it("D22: no refresh token, no ID token, and no foreign audience", async () => {
    const foreign = await service.addOrganization();
    const project = { name: "foreign" };
    const made = await service.post(`/projects?ctx.org_id=${foreign}`, project);
    const id = String(Object(made.json).details.id);
    const machine = await addMachine();
    const scope = `openid offline_access urn:idsvc:iam:org:project:id:${id}:aud`;
    const { status, body } = await send(paths.token, asked(scope), basic(machine));
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body).sort(), [
      "access_token",
      "expires_in",
      "scope",
      "token_type",
    ]);
    assert.ok(!body.scope.includes("offline_access"));
    const api = await addApi("BASIC", id);
    assert.deepEqual(await introspect(body.access_token, api), { active: false });
  });

  it("gives a JWT (RFC 9068) where the machine user wants one, signed with the active key", async () => {
    const data = { name: "Robot", access_token_type: "jwt" };
    const machine = await addMachine(undefined, { data });
    const scope = `openid ${apis}`;
    const { body } = await send(paths.token, asked(scope), basic(machine));
    const keys = createRemoteJWKSet(new URL(`${service.issuer}${paths.keys}`));
    const { payload, protectedHeader } = await jwtVerify(body.access_token, keys, {
      issuer: service.issuer,
      typ: "at+jwt",
    });
    // What a machine user calls themselves is the audience of nothing (J8).
    assert.deepEqual(payload.aud, [await service.ports.settings.ownProjectId(service.at)]);
    const { kid } = await service.ports.keys.signer(service.at, undefined);
    assert.equal(protectedHeader.kid, kid);
    const { sub, client_id, scope: told, jti } = payload;
    assert.deepEqual({ sub, client_id, told }, { ...wantedOf(machine), told: scope });
    assert.equal(typeof jti, "string");
    const { status } = await service.get(`/users/${machine.id}`, { token: body.access_token });
    assert.equal(status, 200);

    await service.patch(`/users/${machine.id}`, { data: { access_token_type: "bearer" } });
    const next = await send(paths.token, asked(scope), basic(machine));
    assert.match(next.body.access_token, /^idsvc_at_/);
  });

  it("knows no other form of token", async () => {
    const data = { name: "Robot", access_token_type: "paseto" };
    const wanted = { username: "other-form", schema_id: "machine", data };
    const { status, json } = await service.post("/users", wanted);
    assert.equal(status, 400, JSON.stringify(json));
  });

  it("is refused to apps: they act for users", async () => {
    const app = await addClient();
    assertRefused(await send(paths.token, asked("openid"), basic(app)), 400, "unauthorized_client");
  });

  it("asks for a scope, and for one that is known", async () => {
    const machine = await addMachine();
    const by = basic(machine);
    const { scope: _, ...none } = asked("openid");
    assertRefused(await send(paths.token, none, by), 400, "invalid_request");
    for (const scope of ["bogus", 'open"id', "x".repeat(10_001), "profile ".repeat(3) + "é"]) {
      assertRefused(await send(paths.token, asked(scope), by), 400, "invalid_scope");
    }
  });

  it("is told in the log without the token", async () => {
    const machine = await addMachine();
    const { body } = await send(paths.token, asked("openid"), basic(machine));
    const added = (await events("user.token.added")).at(-1);
    assert.equal(added?.editorId, machine.id);
    assert.equal(added.clientId, machine.clientId);
    assert.equal(added.aggregateType, "token");
    assert.ok(!JSON.stringify(added.payload).includes(body.access_token));
  });

  it("ends with its machine user", async () => {
    const machine = await addMachine();
    const { body } = await send(paths.token, asked(`openid ${apis}`), basic(machine));
    const call = async () =>
      (await service.get(`/users/${machine.id}`, { token: body.access_token })).status;
    assert.equal(await call(), 200);
    await service.post(`/users/${machine.id}/_deactivate`);
    assert.equal(await call(), 401);
    assertRefused(await send(paths.token, asked("openid"), basic(machine)), 401, "invalid_client");
  });
});
