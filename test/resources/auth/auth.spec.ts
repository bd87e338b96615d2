// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { permissionsOf, permissionsOnInstance } from "../../../src/authz/roles.ts";
import { addCaller } from "../../support/app.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";

const service = await startPeer();
const { app, get, post, addMember } = service;
after(() => service[Symbol.asyncDispose]());

const { instance_id: instanceId, project_id: ownProject } = app.made;
const inside = (id: string) => ({ headers: { "x-idsvc-orgid": id } });
const sorted = (names: Iterable<string>) => [...names].toSorted();
const idOf = (answer: Awaited<ReturnType<typeof post>>) => String(bodyOf(answer, 201).details.id);
const as = (token: string) => ({ token });

/** What organizations are called, by ID. */
const organizationNames = new Map<string, string>();
async function addOrganization({ name = uniqueName("organization") } = {}): Promise<string> {
  const id = await service.addOrganization({ name });
  organizationNames.set(id, name);
  return id;
}

async function permissions(token: string, asked = ""): Promise<JsonObject[]> {
  return bodyOf(await get(`/auth/permissions${asked}`, as(token))).result ?? [];
}
const wide = { id: "", organization_id: "", organization_name: "" };
const everywhere = (role: string) => ({
  scope: "PERMISSION_SCOPE_EVERY_ORGANIZATION",
  ...wide,
  permissions: sorted(permissionsOf(role)),
});
const inOrganization = (id: string, ...roles: string[]) => ({
  scope: "PERMISSION_SCOPE_ORGANIZATION",
  id,
  organization_id: id,
  organization_name: organizationNames.get(id),
  permissions: sorted(new Set(roles.flatMap((role) => [...permissionsOf(role)]))),
});
const inProject = (id: string, organization_id: string, role: string) => ({
  scope: "PERMISSION_SCOPE_PROJECT",
  id,
  organization_id,
  organization_name: organizationNames.get(organization_id),
  permissions: sorted(permissionsOf(role)),
});
const addProject = async (organizationId: string, name = uniqueName("project")) =>
  idOf(await post("/projects", { name }, inside(organizationId)));

describe("the permissions of a call", () => {
  it("are none for who has no role", async () => {
    const organization_id = await addOrganization();
    const { userId: user_id, token } = await addMember(organization_id, []);
    assert.deepEqual(bodyOf(await get("/auth/permissions", as(token))), {
      result: [],
      next: "",
      user_id,
      organization_id,
      organization_name: organizationNames.get(organization_id),
      instance_id: instanceId,
    });
  });

  it("say what an organization is called to who belongs to it or may do something in it, as it is called now, though they may not read it", async () => {
    const [home, other] = [await addOrganization(), await addOrganization()];
    const { userId, token } = await addMember(home, []);
    const ctx = { project_id: await addProject(other) };
    bodyOf(
      await post("/memberships", { ctx, user_id: userId, roles: ["PROJECT_OWNER_VIEWER"] }),
      201,
    );
    const name = uniqueName("organization");
    bodyOf(await service.patch(`/organizations/${other}`, { name }));
    const told = bodyOf(await get("/auth/permissions", as(token)));
    assert.equal(told.organization_name, organizationNames.get(home));
    assert.deepEqual(
      told.result.map((each: JsonObject) => each["organization_name"]),
      [name],
    );
    for (const id of [home, other]) {
      const { refusal } = await get(`/organizations/${id}`, as(token));
      assertRefused(refusal, { code: 7, reason: "PERMISSION_MISSING" });
    }
  });

  it("are told apart where a role gives less on the instance than below it (B4)", async () => {
    const { token } = await addCaller(app, ["IAM_ORG_MANAGER"]);
    const onInstance = {
      scope: "PERMISSION_SCOPE_INSTANCE",
      ...wide,
      permissions: sorted(permissionsOnInstance("IAM_ORG_MANAGER")),
    };
    assert.deepEqual(await permissions(token), [onInstance, everywhere("IAM_ORG_MANAGER")]);
    assert.notDeepEqual(onInstance.permissions, everywhere("IAM_ORG_MANAGER").permissions);
  });

  it("are told of each context, with what is held in wider ones", async () => {
    const organizationId = await addOrganization();
    const projectId = await addProject(organizationId);
    const { userId, token } = await addMember(organizationId, ["ORG_USER_MANAGER"]);
    const membership = {
      ctx: { project_id: projectId },
      user_id: userId,
      roles: ["PROJECT_OWNER"],
    };
    bodyOf(await post("/memberships", membership), 201);
    const [organization, project, ...none] = await permissions(token);
    assert.deepEqual(none, []);
    assert.deepEqual(organization, inOrganization(organizationId, "ORG_USER_MANAGER"));
    const both = new Set([...permissionsOf("PROJECT_OWNER"), ...permissionsOf("ORG_USER_MANAGER")]);
    assert.deepEqual(project, {
      ...inProject(projectId, organizationId, "PROJECT_OWNER"),
      permissions: sorted(both),
    });
  });

  it("are kept to those that count in an organization, which the caller must know", async () => {
    const [mine, also] = [await addOrganization(), await addOrganization()];
    const { userId, token } = await addMember(mine, ["ORG_OWNER"]);
    const projectId = await addProject(also);
    const membership = {
      ctx: { project_id: projectId },
      user_id: userId,
      roles: ["PROJECT_OWNER_VIEWER"],
    };
    bodyOf(await post("/memberships", membership), 201);
    assert.deepEqual(await permissions(token, `?ctx.org_id=${mine}`), [
      inOrganization(mine, "ORG_OWNER"),
    ]);
    const inAlso = inProject(projectId, also, "PROJECT_OWNER_VIEWER");
    assert.deepEqual(await permissions(token, `?ctx.org_id=${also}`), [inAlso]);
    const others = await get(`/auth/permissions?ctx.org_id=${await addOrganization()}`, as(token));
    assertRefused(others.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    const { token: viewer } = await addCaller(app, ["IAM_OWNER_VIEWER"]);
    const seen = await permissions(viewer, `?ctx.org_id=${mine}`);
    assert.deepEqual(seen.at(-1), inOrganization(mine, "IAM_OWNER_VIEWER"));
  });

  it("come in pages, each entry once", async () => {
    const home = await addOrganization();
    const { userId, token } = await addMember(home, ["ORG_OWNER"]);
    for (let n = 0; n < 4; n++) {
      const ctx = { project_id: await addProject(home) };
      const roles = ["PROJECT_OWNER"];
      bodyOf(await post("/memberships", { ctx, user_id: userId, roles }), 201);
    }
    const all = await permissions(token);
    assert.equal(all.length, 5);
    const paged: JsonObject[] = [];
    let next = "";
    do {
      const page = bodyOf(await get(`/auth/permissions?limit=2&after=${next}`, as(token)));
      assert.ok(page.result.length <= 2);
      paged.push(...page.result);
      next = String(page.next);
    } while (next !== "");
    assert.deepEqual(paged, all);
  });

  it("refuse a cursor that was made up, and a limit that is too large", async () => {
    const { token } = app;
    const { refusal } = await get("/auth/permissions?after=made-up", as(token));
    assertRefused(refusal, { code: 3, reason: "CURSOR_INVALID", field: "after" });
    const tooMany = await get("/auth/permissions?limit=100000", as(token));
    assertRefused(tooMany.refusal, { code: 3, reason: "LIMIT_EXCEEDED", field: "limit" });
  });

  it("end with the membership that gave them", async () => {
    const { userId, token } = await addCaller(app, []);
    const ctx = { instance_id: instanceId };
    const id = idOf(await post("/memberships", { ctx, user_id: userId, roles: ["IAM_OWNER"] }));
    assert.equal((await permissions(token)).length, 2);
    bodyOf(await service.remove(`/memberships/${id}`));
    assert.deepEqual(await permissions(token), []);
  });
});

const kinds = ["users", "organizations", "projects", "apps"] as const;
type Kind = (typeof kinds)[number];

async function find(q: string, token: string, ctx?: JsonObject) {
  const body = bodyOf(await post("/_search_all", { q, ...(ctx && { ctx }) }, as(token)));
  const idsOf = (kind: Kind): string[] => (body[kind] ?? []).map(({ id }: { id: string }) => id);
  const ids = Object.fromEntries(kinds.map((kind) => [kind, idsOf(kind)]));
  return { body, ids: ids as Record<Kind, string[]> };
}
const none = { users: [], organizations: [], projects: [], apps: [] };

let worlds = 0;
/** An organization with a user, a project and an app whose names all begin with one word that nothing else has. */
async function makeWorld() {
  const word = `Zebra${worlds++}x`;
  const organizationId = await addOrganization({ name: `${word} Organization` });
  const user = {
    username: `${word}-user`,
    contact: { email: { address: `${word}@mail.test`, return_code: {} } },
    data: {},
  };
  const userId = idOf(await post("/users", user, inside(organizationId)));
  const projectId = await addProject(organizationId, `${word} Project`);
  const made = await post("/apps", { name: `${word} App`, project_id: projectId, api: {} });
  const { details, client_id: clientId } = bodyOf(made, 201);
  return { word, organizationId, userId, projectId, appId: String(details.id), clientId };
}
const allOf = (world: Awaited<ReturnType<typeof makeWorld>>) => ({
  users: [world.userId],
  organizations: [world.organizationId],
  projects: [world.projectId],
  apps: [world.appId],
});

describe("a search over everything", () => {
  it("finds by how names and addresses begin, whatever the letter case", async () => {
    const world = await makeWorld();
    const { body, ids } = await find(world.word.toUpperCase(), app.token);
    assert.deepEqual(ids, allOf(world));
    const { organizationId: organization_id, word } = world;
    assert.deepEqual(body.organizations, [{ id: organization_id, name: `${word} Organization` }]);
    assert.deepEqual(body.projects, [
      { id: world.projectId, name: `${word} Project`, organization_id },
    ]);
    assert.deepEqual(body.apps, [
      {
        id: world.appId,
        name: `${word} App`,
        client_id: world.clientId,
        project_id: world.projectId,
        organization_id,
      },
    ]);
    assert.deepEqual((await find(`${word}@mail.t`, app.token)).ids, {
      ...none,
      users: [world.userId],
    });
    assert.deepEqual((await find(word.slice(1), app.token)).ids, none);
  });

  it("finds by id, client id and phone number, as they are written", async () => {
    const world = await makeWorld();
    assert.deepEqual((await find(world.userId, app.token)).ids.users, [world.userId]);
    assert.deepEqual((await find(world.projectId, app.token)).ids.projects, [world.projectId]);
    assert.deepEqual((await find(world.appId, app.token)).ids.apps, [world.appId]);
    assert.deepEqual((await find(world.clientId, app.token)).ids.apps, [world.appId]);
    const number = "+41791234567";
    const contact = { phone: { number, return_code: {} } };
    const user = idOf(await post("/users", { username: uniqueName("phone"), data: {}, contact }));
    assert.deepEqual((await find(number, app.token)).ids, { ...none, users: [user] });
    assert.deepEqual((await find(number.slice(0, -1), app.token)).ids, none);
  });

  it("finds by external id, as it is written, who may be read", async () => {
    const external_id = uniqueName("Employee");
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const body = { data: {}, external_id };
    const at = (id: string) => `/users?ctx.org_id=${id}`;
    const here = idOf(await post(at(mine), { ...body, username: "external" }));
    const there = idOf(await post(at(other), { ...body, username: "external" }));
    const all = (await find(external_id, app.token)).ids;
    assert.deepEqual(all.users.toSorted(), [here, there].toSorted());
    assert.deepEqual((await find(external_id.toLowerCase(), app.token)).ids, none);
    assert.deepEqual((await find(external_id.slice(0, -1), app.token)).ids, none);
    const { token } = await addMember(mine, ["ORG_USER_MANAGER"]);
    assert.deepEqual((await find(external_id, token)).ids, { ...none, users: [here] });
  });

  it("finds a machine by its client id", async () => {
    const { userId } = await addCaller(app, []);
    const { client_id } = bodyOf(await post(`/users/${userId}/secret`));
    assert.deepEqual((await find(client_id, app.token)).ids.users, [userId]);
  });

  it("finds what the caller may read, and nothing else", async () => {
    const [mine, others] = [await makeWorld(), await makeWorld()];
    const { token } = await addMember(mine.organizationId, ["ORG_OWNER"]);
    assert.deepEqual((await find(mine.word, token)).ids, allOf(mine));
    assert.deepEqual((await find(others.word, token)).ids, none);
    for (const id of Object.values(allOf(others)).flat()) {
      assert.deepEqual((await find(id, token)).ids, none);
    }
    assert.deepEqual((await find(others.clientId, token)).ids, none);
    // Reads users, and neither organization's apps.
    const { token: manager } = await addMember(mine.organizationId, ["ORG_USER_MANAGER"]);
    assert.deepEqual((await find(mine.word, manager)).ids, { ...allOf(mine), apps: [] });
  });

  it("finds themselves for who has no role, and projects by a membership in one", async () => {
    const world = await makeWorld();
    const { userId, token } = await addCaller(app, [], world.organizationId);
    assert.deepEqual((await find(userId, token)).ids, { ...none, users: [userId] });
    assert.deepEqual((await find(world.word, token)).ids, none);
    const membership = {
      ctx: { project_id: world.projectId },
      user_id: userId,
      roles: ["PROJECT_OWNER"],
    };
    bodyOf(await post("/memberships", membership), 201);
    const { projects, apps } = (await find(world.word, token)).ids;
    assert.deepEqual({ projects, apps }, { projects: [world.projectId], apps: [world.appId] });
  });

  it("keeps to an organization that it names", async () => {
    const [one, two] = [await makeWorld(), await makeWorld()];
    const ctx = { org_id: one.organizationId };
    assert.deepEqual((await find(one.word, app.token, ctx)).ids, allOf(one));
    assert.deepEqual((await find(two.word, app.token, ctx)).ids, none);
  });

  it("shows at most 20 of a kind, those that have the text as their id first", async () => {
    const word = uniqueName("Yak");
    for (let n = 0; n < 21; n++)
      await addOrganization({ name: `${word} ${String(n).padStart(2, "0")}` });
    const { body } = await find(word, app.token);
    assert.deepEqual(
      body.organizations.map(({ name }: { name: string }) => name),
      Array.from({ length: 20 }, (_, n) => `${word} ${String(n).padStart(2, "0")}`),
    );
    const own = await addOrganization({ name: "named otherwise" });
    await addOrganization({ name: `${own} other` });
    assert.equal((await find(own, app.token)).ids.organizations[0], own);
  });

  it("takes signs as they are, and refuses texts that are too short or too long", async () => {
    const name = uniqueName("100%_\\ '\"");
    const id = await addOrganization({ name });
    assert.deepEqual((await find(name, app.token)).ids.organizations, [id]);
    assert.deepEqual((await find("%%", app.token)).ids.organizations, []);
    for (const q of ["", "x", "x".repeat(201)]) {
      const { refusal } = await post("/_search_all", { q }, as(app.token));
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field: "q" });
    }
  });

  it("neither tells a name that a schema hides from the caller, nor finds by it", async () => {
    const permission = "urn:idsvc:schema:permission";
    const schema = {
      type: "object",
      properties: { name: { type: "string", [permission]: { owner: "rw" } } },
    };
    const made = await post("/user_schemas", { type: uniqueName("masked"), schema });
    const schema_id = idOf(made);
    const name = uniqueName("Walrus");
    const { userId: id, token } = await addMember(await addOrganization(), []);
    bodyOf(await service.patch(`/users/${id}`, { schema_id, data: { name } }));
    const { body: told } = await find(name, app.token);
    assert.equal(told.users[0].display_name, name);
    assert.deepEqual((await find(name, token)).ids.users, []);
    const { body } = await find(id, token);
    assert.equal(body.users[0].display_name ?? "", "");
  });

  it("finds nothing of the service's own project for who may not read it", async () => {
    const { token } = await addMember(await addOrganization(), ["ORG_OWNER"]);
    assert.deepEqual((await find(ownProject, token)).ids, none);
  });
});
