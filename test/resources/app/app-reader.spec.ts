// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { appReader } from "../../../src/resources/app/index.ts";
import { appKeys, appOrigins } from "../../../src/resources/app/rows.ts";
import { removeContentsOfApps } from "../../../src/resources/app/remove-apps.ts";
import { eq } from "../../../src/storage/drizzle.ts";
import { bodyOf } from "../../support/peer.ts";
import { callback, startAppPeer } from "./app-peer.ts";

const service = await startAppPeer();
const { app, get, post, patch, remove, addApp, addProject, addOrganization } = service;
after(() => service[Symbol.asyncDispose]());

const instanceId = app.made.instance_id;
const apps = appReader(app.kernel.db);
const find = (clientId: string) => apps.byClientId(instanceId, clientId);

describe("an app by its client id", () => {
  it("is found in its instance, with its configuration", async () => {
    const organizationId = await addOrganization();
    const projectId = await addProject(organizationId);
    const { id, clientId } = await addApp({ project_id: projectId, name: "shop" });
    const found = await find(clientId);
    assert.ok(found?.config.kind === "oidc");
    const { config, ...rest } = found;
    assert.deepEqual(rest, {
      id,
      clientId,
      name: "shop",
      projectId,
      organizationId,
      isActive: true,
      isOwnerMade: true,
      isLegacy: false,
      apiAccess: undefined,
    });
    assert.deepEqual(config.oidc.redirectUris, [callback]);
    const api = await addApp({ api: { auth_method_type: "API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT" } });
    assert.deepEqual((await find(api.clientId))?.config, {
      kind: "api",
      api: { authMethodType: "private_key_jwt" },
    });
    assert.equal(await apps.byClientId("404", clientId), undefined);
    assert.equal(await find("404"), undefined);
  });

  it("D36: is inactive at once when it, its project or its organization is, and gone when they are", async () => {
    const organization = await addOrganization();
    const projectId = await addProject(organization);
    const { id, clientId } = await addApp({ project_id: projectId });
    for (const path of [
      `/apps/${id}`,
      `/projects/${projectId}`,
      `/organizations/${organization}`,
    ]) {
      bodyOf(await post(`${path}/_deactivate`));
      assert.equal((await find(clientId))?.isActive, false, path);
      bodyOf(await post(`${path}/_activate`));
      assert.equal((await find(clientId))?.isActive, true, path);
    }
    bodyOf(await patch(`/apps/${id}`, { oidc: { dev_mode: true } }));
    const { config } = (await find(clientId)) ?? {};
    assert.ok(config?.kind === "oidc" && config.oidc.devMode);
    bodyOf(await remove(`/projects/${projectId}`));
    assert.equal(await find(clientId), undefined);
  });

  it("is among those of its project", async () => {
    const projectId = await addProject();
    assert.deepEqual(await apps.clientIdsOf(instanceId, projectId), []);
    const made = [
      await addApp({ project_id: projectId }),
      await addApp({ project_id: projectId, api: {} }),
    ];
    const listed = await apps.clientIdsOf(instanceId, projectId);
    assert.deepEqual([...listed].sort(), made.map(({ clientId }) => clientId).sort());
  });
});

describe("the rows of an app", () => {
  it("go with it", async () => {
    const { db } = app.kernel;
    const { id } = await addApp({
      oidc: { redirect_uris: [callback], additional_origins: ["https://spa.test"] },
    });
    bodyOf(await post(`/apps/${id}/keys`), 201);
    const [keys, origins] = [db.table(appKeys), db.table(appOrigins)];
    const count = async () => [
      (await db.read.select().from(keys).where(eq(keys.appId, id))).length,
      (await db.read.select().from(origins).where(eq(origins.appId, id))).length,
    ];
    assert.deepEqual(await count(), [1, 2]);
    bodyOf(await remove(`/apps/${id}`));
    assert.deepEqual(await count(), [0, 0]);
  });
});

describe("the apps of an organization that goes", () => {
  it("are removed a batch at a time", async () => {
    const organization = await addOrganization();
    const projectId = await addProject(organization);
    const made = [
      await addApp({ project_id: projectId }),
      await addApp({ project_id: projectId }),
      await addApp({ project_id: projectId, api: {} }),
    ];
    const other = await addApp();
    const by = { editorId: "test", service: "test", clientId: "", requestId: "test" };
    const removeSome = removeContentsOfApps(app.kernel);
    const counts: number[] = [];
    for (let i = 0; i < 3; i++)
      counts.push(await removeSome({ instanceId, ...by }, organization, 2));
    assert.deepEqual(counts, [2, 1, 0]);
    for (const { id } of made) assert.equal((await get(`/apps/${id}`)).status, 404);
    assert.equal((await get(`/apps/${other.id}`)).status, 200);
  });
});
