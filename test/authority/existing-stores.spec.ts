// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  endLegacyApps,
  endLegacyAppsAt,
  findLegacyApps,
  findLegacyEndings,
} from "../../src/app/legacy-apps.ts";
import { until } from "../executor/executor-peer.ts";
import { projectGrants } from "../../src/resources/grant/index.ts";
import { oidcSession, oidcSessionEvents } from "../../src/oidc/store/events.ts";
import { signedIn } from "../support/login.ts";
import { type MadeClient, redirectUri } from "../support/oidc.ts";
import { bodyOf } from "../support/peer.ts";
import { answerOf } from "../support/user-agent.ts";
import { choices, hidden, ok, startAppWorld } from "./app-world.ts";

const world = await startAppWorld();
const { peer, ownProject, addOwner, addForeignApp, ask, allow, reads } = world;
const { kernel } = peer.app;
after(() => peer[Symbol.asyncDispose]());

/** An OIDC session as an earlier release stored it: its audience is strings, and nobody was asked. */
async function formerSession(client: MadeClient, userId: string): Promise<void> {
  const { instanceId } = peer.at;
  const by = { instanceId, editorId: userId, service: "oidc", clientId: "", requestId: "" };
  await kernel.events.transact(by, async (tx) => {
    const { clientId } = client;
    const added = oidcSessionEvents.added({
      clientId,
      userId,
      sessionId: "",
      amr: ["pwd"],
      parents: [],
      scope: ["openid", "urn:idsvc:iam:org:project:id:idsvc:aud"],
      audience: [clientId, client.projectId, ownProject],
      expirationDate: new Date(peer.now().getTime() + 3_600_000).toISOString(),
    });
    const owner = { type: "org", id: world.home } as const;
    tx.record(oidcSession, tx.begin(oidcSession, kernel.newId()), [added], owner);
  });
}

const legacyOf = async (appId: string) =>
  bodyOf(await peer.get(`/apps/${appId}`)).app.app.api_access?.legacy === true;

describe("existing stores (decision 0088)", () => {
  it("an app that had tokens for our APIs keeps its access, with consent, until it ends", async () => {
    const [owner, app, other] = [await addOwner(), await addForeignApp(), await addForeignApp()];
    assert.deepEqual(await findLegacyApps(kernel), []);
    await formerSession(app, owner.id);
    assert.deepEqual(
      (await findLegacyApps(kernel)).map(({ id }) => id),
      [app.appId],
    );
    assert.deepEqual([await legacyOf(app.appId), await legacyOf(other.appId)], [true, false]);

    const elsewhere = await peer.addPerson({}, await peer.addOrganization());
    const agent = await signedIn(peer, await peer.addClient(), owner.loginName);
    const silent = await ask(agent, app, { prompt: "none" });
    assert.equal(answerOf(silent).get("error"), "consent_required");
    const page = await ask(agent, app);
    assert.deepEqual(choices(page), ["own", "organization", "legacy"]);
    const { access_token: token } = await allow(app, owner.loginName, "legacy");
    assert.deepEqual(await reads(elsewhere, token), ok);

    assert.equal((await endLegacyApps(kernel)).length, 1);
    assert.equal(await legacyOf(app.appId), false);
    assert.deepEqual(await reads(elsewhere, token), hidden);
    assert.deepEqual(await findLegacyApps(kernel), []);
  });

  it("ends on the day that was said, by the clock", async () => {
    const [owner, app] = [await addOwner(), await addForeignApp()];
    await formerSession(app, owner.id);
    const day = new Date(peer.now().getTime() + 24 * 3_600_000);
    assert.equal((await endLegacyAppsAt({ ...kernel, now: peer.now }, day)).length, 1);
    assert.deepEqual((await findLegacyEndings(kernel)).get(peer.at.instanceId), day);
    peer.pass(23 * 3_600_000);
    await delay(1_500);
    assert.equal(await legacyOf(app.appId), true);
    peer.pass(2 * 3_600_000);
    await until("the end", async () => !(await legacyOf(app.appId)));
    assert.deepEqual(await findLegacyApps(kernel), []);
    await until("the job", async () => (await findLegacyEndings(kernel)).size === 0);
  });

  it("a project grant counts as accepted where somebody who could accept it has given a role by it", async () => {
    const organization = await peer.addOrganization();
    const { projectId } = await addForeignApp();
    const { instanceId } = peer.at;
    const by = { instanceId, editorId: "1", service: "x", clientId: "", requestId: "" };
    const id = kernel.newId();
    await kernel.events.transact(by, async (tx) => {
      // As an earlier release recorded it.
      const config = { projectId, grantedOrganizationId: organization, roleKeys: [] };
      const added = projectGrants.events.added(config);
      tx.record(projectGrants.aggregate, tx.begin(projectGrants.aggregate, id), [added], {
        type: "org",
        id: world.home,
      });
    });
    const accepted = async () =>
      bodyOf(await peer.get(`/project_grants/${id}`)).project_grant.accepted === true;
    assert.equal(await accepted(), false);
    const user_id = await peer.addPerson({}, organization);
    const given = { user_id, project_id: projectId, project_grant_id: id };
    const ofGrant = await peer.addMember(organization, []);
    const ctx = { project_grant_id: id };
    const roles = ["PROJECT_GRANT_OWNER"];
    bodyOf(await peer.post("/memberships", { ctx, user_id: ofGrant.userId, roles }), 201);
    bodyOf(await peer.post("/user_grants", given, { token: ofGrant.token }), 201);
    assert.equal(await accepted(), false);
    const { token } = await peer.addMember(organization, ["ORG_OWNER"]);
    const other = { ...given, user_id: await peer.addPerson({}, organization) };
    bodyOf(await peer.post("/user_grants", other, { token }), 201);
    assert.equal(await accepted(), true);
    bodyOf(await peer.post(`/project_grants/${id}/_decline`, undefined, { token }));
    assert.equal(await accepted(), false);
  });

  it("ends it when somebody who does not cover it changes what answers for the app (J19)", async () => {
    const [owner, app] = [await addOwner(), await addForeignApp()];
    await formerSession(app, owner.id);
    assert.equal(await legacyOf(app.appId), true);
    bodyOf(await peer.patch(`/apps/${app.appId}`, { name: "renamed" }, { token: app.token }));
    assert.equal(await legacyOf(app.appId), true);
    const moved = { oidc: { redirect_uris: [redirectUri, "https://other.test/cb"] } };
    bodyOf(await peer.patch(`/apps/${app.appId}`, moved, { token: app.token }));
    assert.equal(await legacyOf(app.appId), false);
  });
});
