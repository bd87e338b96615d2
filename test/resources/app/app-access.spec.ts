// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { bodyOf, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { startAppPeer } from "./app-peer.ts";

const service = await startAppPeer();
const { app, get, post, patch, remove, addProject, addApp } = service;
const { addOrganization, addMember, addProjectMember, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const notFound = { code: 5, reason: "APP_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };

describe("who may do what to an app", () => {
  const attempts = async (id: string, token: string) => [
    await patch(`/apps/${id}`, { name: "mine" }, { token }),
    await post(`/apps/${id}/_deactivate`, undefined, { token }),
    await post(`/apps/${id}/_activate`, undefined, { token }),
    await post(`/apps/${id}/_regenerate_secret`, undefined, { token }),
    await post(`/apps/${id}/keys`, undefined, { token }),
    await remove(`/apps/${id}/keys/1`, { token }),
  ];

  it("D41: an app that the caller may not read answers exactly as an absent one", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const { id } = await addApp({ project_id: await addProject(other) });
    for (const path of ["", "/keys"]) {
      const hidden = await get(`/apps/${id}${path}`, { token });
      const absent = await get(`/apps/404${path}`, { token });
      assert.deepEqual([hidden.status, hidden.json], [404, absent.json]);
    }
    const before = await eventCount();
    for (const { status, refusal } of await attempts(id, token)) {
      assert.equal(status, 404);
      assertRefused(refusal, notFound);
    }
    assert.equal(await eventCount(), before);
  });

  it("D40: nobody creates an app in a project that they cannot read", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const project_id = await addProject(other);
    const headers = { "x-idsvc-orgid": mine };
    const hidden = await post("/apps", { project_id, name: "x", oidc: {} }, { token, headers });
    const absent = { project_id: "404", name: "x", oidc: {} };
    assert.deepEqual(hidden.json, (await post("/apps", absent, { token, headers })).json);
    assertRefused(hidden.refusal, { code: 5, reason: "PROJECT_NOT_FOUND" });
  });

  it("who may only read it does not change it", async () => {
    const { id, projectId } = await addApp();
    // They may write apps of another project, so that the call as such is open to them.
    const member = await addProjectMember(await addProject(), ["PROJECT_OWNER"]);
    const ctx = { project_id: projectId };
    const viewer = { ctx, user_id: member.userId, roles: ["PROJECT_OWNER_VIEWER"] };
    bodyOf(await post("/memberships", viewer), 201);
    bodyOf(await get(`/apps/${id}`, member));
    const before = await eventCount();
    for (const { status, refusal } of [
      ...(await attempts(id, member.token)),
      await remove(`/apps/${id}`, member),
      await post("/apps", { ...ctx, name: "x", oidc: {} }, member),
    ]) {
      assert.equal(status, 403);
      assertRefused(refusal, missing);
    }
    assert.equal(await eventCount(), before);
  });

  it("the owner of its project does everything to it, and to no other", async () => {
    const projectId = await addProject();
    const other = await addApp();
    const { token } = await addProjectMember(projectId, ["PROJECT_OWNER"]);
    const wanted = { project_id: projectId, name: uniqueName(), oidc: {} };
    const { id } = bodyOf(await post("/apps", wanted, { token }), 201).details;
    const [renamed, stopped, , , key] = await attempts(id, token);
    for (const done of [renamed, stopped]) assert.equal(done?.status, 200);
    assert.equal(key?.status, 201);
    assertRefused((await get(`/apps/${other.id}`, { token })).refusal, notFound);
    bodyOf(await remove(`/apps/${id}`, { token }));
  });

  it("is told by the permission to delete apps, which the owner of an organization lacks", async () => {
    const { id } = await addApp();
    const { token } = await addMember(app.made.organization_id, ["ORG_OWNER"]);
    bodyOf(await patch(`/apps/${id}`, { name: "his" }, { token }));
    const { status, refusal } = await remove(`/apps/${id}`, { token });
    assert.equal(status, 403);
    assertRefused(refusal, missing);
  });
});
