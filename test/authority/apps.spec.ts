// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import { AppService } from "#gen/idsvc/resources/app/v3alpha/app_service_pb.ts";
import { MembershipService } from "#gen/idsvc/resources/membership/v3alpha/membership_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { addPersonNamed, signedIn, signIn } from "../support/login.ts";
import { basic, paths, redirectUri } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { answerOf, userAgent } from "../support/user-agent.ts";
import { choices, hidden, oidc, ok, scope, startAppWorld } from "./app-world.ts";

const world = await startAppWorld();
const { peer, home, ownProject, addOwner, addForeignApp, ask, redeem, allow, allowAgain, reads } =
  world;
after(() => peer[Symbol.asyncDispose]());

describe("tokens for our own APIs are given by people, in words", () => {
  it("asks, and answers prompt=none with consent_required", async () => {
    const [owner, app] = [await addOwner(), await addForeignApp()];
    const agent = await signedIn(peer, await peer.addClient(), owner.loginName);
    for (const asked of [
      "urn:idsvc:iam:org:project:id:idsvc:aud",
      `urn:idsvc:iam:org:project:id:${ownProject}:aud`,
    ]) {
      const silent = await ask(agent, app, { prompt: "none", scope: `openid ${asked}` });
      assert.equal(answerOf(silent).get("error"), "consent_required");
      const page = await ask(agent, app, { scope: `openid ${asked}` });
      assert.equal(page.url.pathname, "/ui/login/consent");
      assert.deepEqual(choices(page), ["own", "organization"]);
      assert.match(page.html, /rp\.test/);
      assert.match(page.html, /How far may/);
    }
  });

  it("gives the reading of the own account, and nothing else", async () => {
    const [owner, other, app] = [
      await addOwner(),
      await addPersonNamed(peer),
      await addForeignApp(),
    ];
    const { access_token: token, scope: given } = await allow(app, owner.loginName, "own");
    assert.equal(given, scope);
    assert.deepEqual(await reads(owner.id, token), ok);
    assert.deepEqual(await reads(other.id, token), hidden);
    const patched = await peer.patch(`/users/${owner.id}`, { username: "x" }, { token });
    assert.equal(patched.status, 403);
    assert.equal(patched.refusal?.reason, "PERMISSION_MISSING");
  });

  it("gives power in the organization that owns the project, and not at the instance", async () => {
    const [owner, other, app] = [
      await addOwner(),
      await addPersonNamed(peer),
      await addForeignApp(),
    ];
    const elsewhere = await peer.addPerson({}, await peer.addOrganization());
    const { access_token: token } = await allow(app, owner.loginName, "organization");
    assert.deepEqual(await reads(other.id, token), ok);
    assert.deepEqual(await reads(elsewhere, token), hidden);
    const instance = { instance_id: peer.app.made.instance_id };
    const given = { ctx: instance, user_id: other.id, roles: ["IAM_OWNER"] };
    const refused = await peer.post("/memberships", given, { token });
    assert.equal(refused.status, 403);
    const ctx = { context: { case: "instanceId" as const, value: peer.app.made.instance_id } };
    const said = await peer.peer.call(
      "grpc",
      MembershipService.method.createMembership,
      { membership: { ctx, userId: other.id, roles: ["IAM_OWNER"] } },
      { token },
    );
    assert.equal(said.ok, false);
  });

  it("offers all only for an app of somebody who may do everything; what is not offered is not given", async () => {
    const [owner, foreign] = [await addOwner(), await addForeignApp()];
    const elsewhere = await peer.addPerson({}, await peer.addOrganization());
    const taken = await allow(foreign, owner.loginName, "everything");
    assert.deepEqual(await reads(elsewhere, taken.access_token), hidden);
    const mine = await peer.addClient();
    const { access_token: token } = await allow(mine, owner.loginName, "everything");
    assert.deepEqual(await reads(elsewhere, token), ok);
  });

  it("asks people of organizations that did not accept the grant, and spares those that did", async () => {
    const organization = await peer.addOrganization();
    const { token: theirs } = await peer.addMember(organization, ["ORG_OWNER"]);
    const app = await addForeignApp();
    const person = await addPersonNamed(peer);
    const loginName = "granted@elsewhere.test";
    const contact = { email: { address: loginName, is_verified: true } };
    await peer.addPerson({ contact }, organization);
    const grant = { project_id: app.projectId, granted_organization_id: organization };
    const made = bodyOf(await peer.post("/project_grants", grant, { token: app.token }), 201);
    const path = `/project_grants/${made.details.id}`;
    const accepted = async () => bodyOf(await peer.get(path)).project_grant.accepted === true;
    assert.equal(await accepted(), false);
    const asked = async (by: string) => {
      const agent = userAgent(peer.issuer);
      await ask(agent, app, { scope: "openid profile" });
      const shown = await signIn(agent, by);
      assert.equal(shown.left === undefined, shown.url.pathname === "/ui/login/consent");
      return shown.left === undefined;
    };
    assert.equal(await asked(person.loginName), false);
    assert.equal(await asked(loginName), true);
    const refused = await peer.post(`${path}/_accept`, undefined, { token: app.token });
    assert.equal(refused.refusal?.reason, "PERMISSION_MISSING");
    bodyOf(await peer.post(`${path}/_accept`, undefined, { token: theirs }));
    assert.equal(await accepted(), true);
    assert.equal(await asked(loginName), false);
    bodyOf(await peer.post(`${path}/_decline`, undefined, { token: theirs }));
    assert.equal(await asked(loginName), true);
    bodyOf(await peer.remove(path));
  });

  it("lets nobody but owners change the project of the service; to be an app of it is no audience", async () => {
    const { token } = await peer.addMember(home, ["ORG_OWNER"]);
    const app = { name: "inside", project_id: ownProject, oidc: oidc() };
    const refused = await peer.post("/apps", app, { token });
    assert.equal(refused.status, 403);
    assert.equal(refused.refusal?.reason, "OWN_PROJECT_PROTECTED");
    const renamed = await peer.patch(`/projects/${ownProject}`, { name: "mine" }, { token });
    assert.equal(renamed.refusal?.reason, "OWN_PROJECT_PROTECTED");
    const role = { project_id: ownProject, key: "x", display_name: "x" };
    const roles = await peer.post("/project_roles", role, { token });
    assert.equal(roles.refusal?.reason, "OWN_PROJECT_PROTECTED");

    const inside = await peer.addClient({}, { project_id: ownProject });
    const owner = await addOwner();
    const agent = await signedIn(peer, await peer.addClient(), owner.loginName);
    const tokens = await redeem(inside, await ask(agent, inside, { scope: "openid" }));
    const { status, refusal } = await peer.get(`/users/${owner.id}`, {
      token: tokens.access_token,
    });
    assert.equal(status, 401);
    assert.equal(refusal?.reason, "TOKEN_INVALID");
  });

  it("holds for devices too", async () => {
    const tv = await peer.addClient({
      grant_types: ["OIDC_GRANT_TYPE_DEVICE_CODE"],
      redirect_uris: [],
    });
    const owner = await addOwner();
    const elsewhere = await peer.addPerson({}, await peer.addOrganization());
    const { body } = await peer.send(paths.device, { scope }, basic(tv));
    const agent = userAgent(peer.issuer);
    await agent.open(body.verification_uri_complete);
    await agent.submit({ user_code: body.user_code });
    const page = await signIn(agent, owner.loginName);
    assert.deepEqual(choices(page), ["own", "organization", "everything"]);
    await agent.submit({ consent: "allow", access: "own" });
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const form = { grant_type, device_code: body.device_code };
    const { body: tokens } = await peer.send(paths.token, form, basic(tv));
    assert.deepEqual(await reads(owner.id, tokens.access_token), ok);
    assert.deepEqual(await reads(elsewhere, tokens.access_token), hidden);
  });
});

describe("the access of an app (J4)", () => {
  const everywhere = { permissions: ["*"], instance: true };

  it("is given by who covers it, and spares the page where it is trusted", async () => {
    const { token } = await peer.addMember(home, ["ORG_OWNER"]);
    const app = await addForeignApp();
    const path = `/apps/${app.appId}`;
    const refused = await peer.patch(path, { api_access: everywhere }, { token });
    assert.equal(refused.status, 403);
    assert.equal(refused.refusal?.reason, "API_ACCESS_OUTRANKS_CALLER");
    const unknown = { permissions: ["user.fly"], instance: true };
    const wrong = await peer.patch(path, { api_access: unknown });
    assert.equal(wrong.refusal?.reason, "PERMISSION_UNKNOWN");

    const few = { permissions: ["user.read"], instance: true, trusted: true };
    bodyOf(await peer.patch(path, { api_access: few }));
    const told = bodyOf(await peer.get(path)).app.app.api_access;
    assert.deepEqual(told, { ...few, organization_ids: [], legacy: false });
    const owner = await addOwner();
    const elsewhere = await peer.addPerson({}, await peer.addOrganization());
    const agent = await signedIn(peer, await peer.addClient(), owner.loginName);
    const tokens = await redeem(app, await ask(agent, app, { prompt: "none" }));
    assert.deepEqual(await reads(elsewhere, tokens.access_token), ok);
    const locked = await peer.post(`/users/${elsewhere}/_lock`, undefined, {
      token: tokens.access_token,
    });
    assert.equal(locked.status, 403);
    bodyOf(await peer.patch(path, { api_access: {} }));
    assert.deepEqual(await reads(elsewhere, tokens.access_token), hidden);
  });

  it("J19: what answers for the app changes only by who covers it; a new answer ends consents", async () => {
    const app = await addForeignApp();
    const path = `/apps/${app.appId}`;
    const moved = { oidc: { redirect_uris: [redirectUri, "https://evil.test/cb"] } };
    bodyOf(await peer.patch(path, { api_access: everywhere }));
    const { token } = app;
    for (const refused of [
      await peer.patch(path, moved, { token }),
      await peer.post(`${path}/_generate_secret`, undefined, { token }),
      await peer.post(`${path}/keys`, {}, { token }),
      await peer.remove(path, { token }),
    ]) {
      if (refused.status === 404 && refused.refusal?.reason !== "APP_OUTRANKS_CALLER") continue;
      assert.equal(refused.refusal?.reason, "APP_OUTRANKS_CALLER");
      assert.equal(refused.status, 403);
    }
    bodyOf(await peer.patch(path, { name: "renamed" }, { token }));
  });

  for (const protocol of ["grpc", "rest"] as const) {
    it(`a new redirect URI sends no tokens that were allowed before, set over ${protocol}`, async () => {
      const [owner, app] = [await addOwner(), await addForeignApp()];
      const agent = userAgent(peer.issuer);
      await ask(agent, app);
      const page = await signIn(agent, owner.loginName);
      const isAsked = page.left === undefined && page.url.pathname === "/ui/login/consent";
      const given = { consent: "allow", access: "organization" };
      const shown = isAsked ? await agent.submit(given) : page;
      const { access_token: token } = await redeem(app, shown);
      assert.match(answerOf(await ask(agent, app)).get("code") ?? "", /^idsvc_ac_/);
      const moved = { oidc: { redirect_uris: [redirectUri, "https://evil.test/cb"] } };
      const method = AppService.method.patchApp;
      const request = fromJson(method.input, { id: app.appId, app: moved });
      assert.ok((await peer.peer.call(protocol, method, request, { token: app.token })).ok);
      const aside = { prompt: "none", redirect_uri: "https://evil.test/cb" };
      const silent = await ask(agent, app, aside);
      assert.equal(answerOf(silent).get("error"), "consent_required");
      assert.equal((await peer.get(`/users/${owner.id}`, { token })).status, 401);
    });
  }

  it("what an owner made is no owner's any more once another changed what answers for it", async () => {
    const owner = await addOwner();
    const mine = await peer.addClient();
    const elsewhere = await peer.addPerson({}, await peer.addOrganization());
    const { access_token: before } = await allow(mine, owner.loginName, "everything");
    assert.deepEqual(await reads(elsewhere, before), ok);
    const { token } = await peer.addMember(home, ["ORG_OWNER"]);
    const grants = { oidc: { grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"] } };
    bodyOf(await peer.patch(`/apps/${mine.appId}`, grants, { token }));
    assert.deepEqual(await reads(elsewhere, before), hidden);
  });
});

describe("a token is not its user (J4a)", () => {
  it("makes no personal access token, whatever was allowed", async () => {
    const owner = await addOwner();
    const mine = await peer.addClient();
    const agent = userAgent(peer.issuer);
    await ask(agent, mine);
    const page = await signIn(agent, owner.loginName);
    const isAsked = page.left === undefined && page.url.pathname === "/ui/login/consent";
    // Where nobody is asked for consent the token is no other.
    const shown = isAsked ? await agent.submit({ consent: "allow", access: "everything" }) : page;
    const { access_token: token } = await redeem(mine, shown);
    const refused = await peer.post(`/users/${owner.id}/personal_access_tokens`, {}, { token });
    assert.equal(refused.status, 403);
    assert.equal(refused.refusal?.reason, "TOKEN_WITHOUT_HOLD");
    const request = { id: owner.id };
    const method = UserService.method.addPersonalAccessToken;
    const said = await peer.peer.call("grpc", method, request, { token });
    assert.equal(said.ok ? "" : said.reason, "TOKEN_WITHOUT_HOLD");
    const access = { permissions: ["user.self.credential"], instance: true };
    bodyOf(await peer.patch(`/apps/${mine.appId}`, { api_access: access }));
    const given = await allowAgain(mine, owner.loginName, "given");
    bodyOf(await peer.post(`/users/${owner.id}/personal_access_tokens`, {}, { token: given }));
  });
});
