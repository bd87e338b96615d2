// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { decodeJwt } from "jose";
import { InstanceService } from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
import { user, userEvents } from "../../src/resources/user/index.ts";
import { addPersonNamed, signedIn } from "../support/login.ts";
import {
  assertRefused as assertOAuthRefused,
  basic,
  type MadeClient,
  type MadeMachine,
  paths,
  redirectUri,
} from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { systemCaller } from "../support/system-caller.ts";
import { hidden, oidc, ok, scope, startAppWorld } from "./app-world.ts";

const operator = systemCaller();
const world = await startAppWorld(operator.env);
const { peer, ownProject, addOwner, addForeignApp, ask, redeem, allow, reads } = world;
after(() => peer[Symbol.asyncDispose]());

describe("an exchange stays within what was allowed (J6)", () => {
  const grant_type = "urn:ietf:params:oauth:grant-type:token-exchange";
  const subject_token_type = "urn:ietf:params:oauth:token-type:access_token";
  const exchange = (client: MadeClient, subject_token: string, asked: string) =>
    peer.send(
      paths.token,
      { grant_type, subject_token, subject_token_type, scope: asked },
      basic(client),
    );

  it("refuses what widens, and leaves out the APIs that were not given", async () => {
    const person = await addPersonNamed(peer);
    const client = await addForeignApp();
    const agent = await signedIn(peer, await peer.addClient(), person.loginName);
    const { access_token: token } = await redeem(
      client,
      await ask(agent, client, { scope: "openid" }),
    );
    for (const more of ["profile", "email", "phone", "offline_access"]) {
      assertOAuthRefused(await exchange(client, token, `openid ${more}`), 400, "invalid_scope");
    }
    const { body } = await exchange(client, token, scope);
    assert.equal(body.scope, "openid");
    assert.equal((await peer.get(`/users/${person.id}`, { token: body.access_token })).status, 401);
    const audience = await peer.send(
      paths.token,
      {
        grant_type,
        subject_token: token,
        subject_token_type,
        scope: "openid",
        audience: ownProject,
      },
      basic(client),
    );
    assertOAuthRefused(audience, 400, "invalid_target");
  });

  it("has no more power than the token it came from, and ends with the consent", async () => {
    const owner = await addOwner();
    const client = await addForeignApp();
    const elsewhere = await peer.addPerson({}, await peer.addOrganization());
    const { access_token: token } = await allow(client, owner.loginName, "own");
    const { body } = await exchange(client, token, scope);
    assert.deepEqual(await reads(owner.id, body.access_token), ok);
    assert.deepEqual(await reads(elsewhere, body.access_token), hidden);
    const filters = [{ user_id: owner.id }, { client_id: client.clientId }];
    const [consent] = bodyOf(await peer.post("/consents/_search", filters)).result;
    bodyOf(await peer.remove(`/consents/${consent.details.id}`));
    for (const ended of [token, body.access_token]) {
      assert.equal((await peer.get(`/users/${owner.id}`, { token: ended })).status, 401);
    }
  });
});

describe("names are no audiences (J8)", () => {
  /** A machine of an older store, where client ids could be ids of other things: today the secret is refused (J7). */
  async function calledAs(clientId: string, more: JsonObject = {}): Promise<MadeMachine> {
    const machine = await peer.addMachine(undefined, more);
    const { kernel, made } = peer.app;
    const by = { instanceId: made.instance_id, editorId: machine.id, service: "test" };
    await kernel.events.transact({ ...by, clientId: "", requestId: "test" }, async (tx) => {
      const loaded = await tx.load(user, machine.id);
      tx.record(user, loaded, [userEvents["machine.secret.set"]({ clientId })]);
    });
    return { ...machine, clientId };
  }

  it("a machine that calls itself like a foreign project gets no token for it", async () => {
    const victim = await peer.addApi("BASIC");
    const machine = await calledAs(victim.projectId);
    const grant_type = "client_credentials";
    const { body } = await peer.send(paths.token, { grant_type, scope: "openid" }, basic(machine));
    assert.deepEqual(await peer.introspect(body.access_token, victim), { active: false });
    const data = { name: "Robot", access_token_type: "jwt" };
    const other = await peer.addApi("BASIC");
    const signing = await calledAs(other.projectId, { data });
    const signed = await peer.send(paths.token, { grant_type, scope: "openid" }, basic(signing));
    assert.deepEqual(decodeJwt(signed.body.access_token).aud, [peer.issuer]);
    assert.deepEqual(await peer.introspect(signed.body.access_token, other), { active: false });
  });

  it("a project that was taken back is no audience of what is issued later: by a code, a refresh, an exchange", async () => {
    const api = await peer.addApi("BASIC");
    const organizationId = await peer.addOrganization();
    const { userId } = await peer.addMember(organizationId, []);
    const granted = {
      granted_organization_id: organizationId,
      project_id: api.projectId,
      role_keys: [],
    };
    const { details } = bodyOf(await peer.post("/project_grants", granted), 201);
    const client = await peer.addClient(oidc());
    const asked = ["openid", "offline_access", `urn:idsvc:iam:org:project:id:${api.projectId}:aud`];
    const first = await peer.tokensFor(client, userId, { scope: asked });
    assert.equal((await peer.introspect(first.access_token, api)).active, true);
    const code = await peer.codeFor(client, userId, { scope: asked });
    bodyOf(await peer.remove(`/project_grants/${details.id}`));

    const isFor = async (form: Record<string, string>) => {
      const { status, body, text } = await peer.send(paths.token, form, basic(client));
      assert.equal(status, 200, text);
      assert.equal((await peer.introspect(body.access_token, client)).active, true);
      return (await peer.introspect(body.access_token, api)).active;
    };
    assert.equal(
      await isFor({ grant_type: "authorization_code", code, redirect_uri: redirectUri }),
      false,
    );
    assert.equal(
      await isFor({ grant_type: "refresh_token", refresh_token: first.refresh_token }),
      false,
    );
    const exchanged = {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: first.access_token,
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
      scope: asked.join(" "),
    };
    assert.equal(await isFor(exchanged), false);
  });

  it("a system caller's JWT for two audiences is refused, over REST and gRPC", async () => {
    const one = await operator.tokenFor([peer.issuer]);
    const two = await operator.tokenFor([peer.issuer, "https://other.test"]);
    const search = (token: string) => peer.post("/instances/_search", [], { token });
    bodyOf(await search(one));
    const refused = await search(two);
    assert.equal(refused.status, 401);
    assert.equal(refused.refusal?.reason, "SYSTEM_TOKEN_INVALID");
    const method = InstanceService.method.searchInstances;
    const said = await peer.peer.call("grpc", method, {}, { token: two });
    assert.equal(said.ok ? "" : said.reason, "SYSTEM_TOKEN_INVALID");
  });
});

describe("consents (L3)", () => {
  it("are seen and taken back by their users without a role, by others with it", async () => {
    const [one, other] = [await addPersonNamed(peer), await addPersonNamed(peer)];
    const client = await addForeignApp();
    const { access_token: token } = await allow(client, one.loginName, "own");
    await allow(client, other.loginName, "own");
    const searched = async (as: string) =>
      bodyOf(await peer.post("/consents/_search", [{ client_id: client.clientId }], { token: as }));
    const seen = await searched(token);
    assert.equal(seen.result.length, 1);
    const [{ details, since, last_used, ...consent }] = seen.result;
    assert.ok(since !== undefined && last_used !== undefined);
    const { app } = bodyOf(await peer.get(`/apps/${client.appId}`));
    assert.deepEqual(consent, {
      user_id: one.id,
      client_id: client.clientId,
      app_name: app.app.name,
      scopes: scope.split(" "),
      access: "CONSENTED_ACCESS_OWN_ACCOUNT",
      token_families: 1,
    });
    assert.equal((await searched(peer.app.token)).result.length, 2);
    const { token: nobody } = await peer.addMember(await peer.addOrganization(), []);
    const path = `/consents/${details.id}`;
    const hiddenFrom = await peer.remove(path, { token: nobody });
    assert.equal(hiddenFrom.status, 404);
    assert.equal(hiddenFrom.refusal?.reason, "CONSENT_NOT_FOUND");
    // The token may read, and not take back.
    assert.equal((await peer.remove(path, { token })).refusal?.reason, "PERMISSION_MISSING");
    bodyOf(await peer.remove(path));
    assert.equal((await peer.get(`/users/${one.id}`, { token })).status, 401);
    assert.equal((await peer.remove(path)).refusal?.reason, "CONSENT_NOT_FOUND");
    const [taken] = await peer.events("user.consent.revoked");
    assert.ok(taken !== undefined);
  });
});
