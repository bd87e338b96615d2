// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { ids, startGrantPeer } from "./grant-peer.ts";

const service = await startGrantPeer();
const { get, post, patch, remove, addOrganization, addMember, eventCount } = service;
const { addProject, addRoles, addProjectGrant, addUserGrant, addUser, addMemberOf } = service;
after(() => service[Symbol.asyncDispose]());

const defaultId = service.app.made.organization_id;
const notFound = { code: 5, reason: "ROLE_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const roleOf = async (id: string) => bodyOf(await get(`/project_roles/${id}`)).role;

describe("creating a role", () => {
  it("answers 201; the role belongs to the organization of its project", async () => {
    const organization = await addOrganization();
    const project_id = await addProject(organization);
    const role = { project_id, key: "admin", display_name: "Leitung", group: "Büro" };
    const { details, ...rest } = bodyOf(await post("/project_roles", role), 201);
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, { type: "OWNER_TYPE_ORG", id: organization });
    assert.deepEqual(await roleOf(details.id), { details, role });
  });

  it("D76: is refused with 409 when the project has the key, in this or a like spelling", async () => {
    const [one, other] = [await addProject(defaultId), await addProject(defaultId)];
    await addRoles(one, "Straße");
    for (const key of ["Straße", "STRASSE", "strasse"]) {
      const { status, refusal } = await post("/project_roles", { project_id: one, key });
      assert.equal(status, 409);
      assertRefused(refusal, { code: 6, reason: "ROLE_KEY_TAKEN" }, key);
    }
    await addRoles(other, "Straße");
  });

  it("is refused in a project that is not there for the caller", async () => {
    const mine = await addOrganization();
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const foreign = await addProject(await addOrganization());
    const before = await eventCount();
    for (const project_id of ["404", foreign]) {
      const { status, refusal } = await post("/project_roles", { project_id, key: "x" }, { token });
      assert.equal(status, 404);
      assertRefused(refusal, { code: 5, reason: "PROJECT_NOT_FOUND" });
    }
    assert.equal(await eventCount(), before);
  });

  it("is refused to who may only read the project", async () => {
    const project_id = await addProject(defaultId);
    const { token, userId } = await addMemberOf({ project_id }, ["PROJECT_OWNER_VIEWER"]);
    const own = { ctx: { project_id: await addProject(defaultId) }, user_id: userId };
    bodyOf(await post("/memberships", { ...own, roles: ["PROJECT_OWNER"] }), 201);
    const { refusal } = await post("/project_roles", { project_id, key: "x" }, { token });
    assertRefused(refusal, missing);
  });

  const refused: [string, JsonObject, string][] = [
    ["without a project", { key: "x" }, "role.project_id"],
    ["without a key", { project_id: "1" }, "role.key"],
    ["with a key of 201 characters", { project_id: "1", key: "k".repeat(201) }, "role.key"],
    ["with a key of control characters", { project_id: "1", key: "a\u0000b" }, "role.key"],
    [
      "with a long display name",
      { project_id: "1", key: "x", display_name: "n".repeat(201) },
      "role.display_name",
    ],
  ];
  for (const [what, role, field] of refused) {
    it(`is refused ${what}`, async () => {
      const { status, refusal } = await post("/project_roles", role);
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    });
  }
});

describe("patching a role", () => {
  it("changes names and not the key, and records nothing when nothing differs", async () => {
    const project_id = await addProject(defaultId);
    const [id = ""] = await addRoles(project_id, "admin");
    const changes = { display_name: "Admins", group: "staff" };
    const { details } = bodyOf(await patch(`/project_roles/${id}`, changes));
    const read = await roleOf(id);
    assert.deepEqual(read, { details, role: { project_id, key: "admin", ...changes } });
    const before = await eventCount();
    assert.deepEqual(bodyOf(await patch(`/project_roles/${id}`, changes)), { details });
    assert.equal(await eventCount(), before);
    assert.equal((await patch(`/project_roles/${id}`, { key: "other" })).refusal?.code, 3);
    const cleared = { display_name: "", group: "" };
    bodyOf(await patch(`/project_roles/${id}`, cleared));
    assert.deepEqual((await roleOf(id)).role, { project_id, key: "admin", ...cleared });
  });

  it("is refused for an unknown role", async () => {
    assertRefused((await patch("/project_roles/404", { group: "x" })).refusal, notFound);
  });
});

describe("deleting a role", () => {
  it("takes it out of project grants and user grants at once, and frees its key", async () => {
    const [owner, granted] = [await addOrganization(), await addOrganization()];
    const project_id = await addProject(owner);
    const [admin = ""] = await addRoles(project_id, "admin", "reader");
    const role_keys = ["admin", "reader"];
    const grant = await addProjectGrant({
      project_id,
      granted_organization_id: granted,
      role_keys,
    });
    const direct = await addUserGrant({ user_id: await addUser(owner), project_id, role_keys });
    const bare = { user_id: await addUser(granted), project_id, project_grant_id: grant };
    const byGrant = await addUserGrant({ ...bare, role_keys: ["admin"] });
    const { details } = bodyOf(await remove(`/project_roles/${admin}`));
    const keysOf = async (path: string, member: string) =>
      bodyOf(await get(path))[member][member].role_keys;
    assert.deepEqual(await keysOf(`/project_grants/${grant}`, "project_grant"), ["reader"]);
    assert.deepEqual(await keysOf(`/user_grants/${direct}`, "user_grant"), ["reader"]);
    assert.deepEqual(await keysOf(`/user_grants/${byGrant}`, "user_grant"), []);
    assertRefused((await get(`/project_roles/${admin}`)).refusal, notFound);
    assertRefused((await remove(`/project_roles/${admin}`)).refusal, notFound);
    const { events } = service.app.kernel;
    const head = BigInt(details.sequence) - 1n;
    const log = await events.read({ instanceId: service.app.made.instance_id, after: head });
    assert.deepEqual(
      log.map(({ type, payload }) => [type, Object(payload).roleKeys]),
      [
        ["project.role.removed", undefined],
        ["project.grant.cascade.changed", ["reader"]],
        ["user.grant.cascade.changed", ["reader"]],
        ["user.grant.cascade.changed", []],
      ],
    );
    await addRoles(project_id, "ADMIN");
  });

  it("is refused to who may only read it", async () => {
    const project_id = await addProject(defaultId);
    const [id = ""] = await addRoles(project_id, "x");
    const viewer = await addMemberOf({ project_id }, ["PROJECT_OWNER_VIEWER"]);
    const more = { ctx: { project_id: await addProject(defaultId) }, user_id: viewer.userId };
    bodyOf(await post("/memberships", { ...more, roles: ["PROJECT_OWNER"] }), 201);
    for (const refused of [
      await remove(`/project_roles/${id}`, viewer),
      await patch(`/project_roles/${id}`, { group: "x" }, viewer),
    ]) {
      assert.equal(refused.status, 403);
      assertRefused(refused.refusal, missing);
    }
  });
});

describe("reading roles", () => {
  it("D41: a role that the caller may not read answers exactly as an absent one", async () => {
    const mine = await addOrganization();
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const [id = ""] = await addRoles(await addProject(await addOrganization()), "x");
    const hidden = await get(`/project_roles/${id}`, { token });
    const absent = await get("/project_roles/404", { token });
    assert.deepEqual([hidden.status, hidden.json], [404, absent.json]);
    for (const refused of [
      await patch(`/project_roles/${id}`, { group: "x" }, { token }),
      await remove(`/project_roles/${id}`, { token }),
    ]) {
      assertRefused(refused.refusal, notFound);
    }
    const own = await addRoles(await addProject(mine), "y");
    const found = bodyOf(await post("/project_roles/_search", [], { token }));
    assert.deepEqual([ids(found), found.details.total_result], [own, "1"]);
  });

  it("filters by ids, project, key, names and organization, and sorts by what is asked", async () => {
    const organization = await addOrganization();
    const project_id = await addProject(organization);
    const add = async (key: string, display_name: string, group: string) => {
      const role = { project_id, key, display_name, group };
      return String(bodyOf(await post("/project_roles", role), 201).details.id);
    };
    const made = [await add("b", "Zora", "one"), await add("a", "Yuri", "two")];
    await addRoles(await addProject(defaultId), "b");
    const search = async (filters: JsonObject[], query = "") =>
      bodyOf(await post(`/project_roles/_search?${query}`, filters));
    const ofProject = { project_id };
    assert.deepEqual(ids(await search([ofProject])), [made[1], made[0]]);
    const byKey = "query.asc=true&sorting_column=ROLE_FIELD_NAME_KEY";
    assert.deepEqual(ids(await search([ofProject], byKey)), [made[1], made[0]]);
    const byName = "query.asc=true&sorting_column=ROLE_FIELD_NAME_DISPLAY_NAME";
    assert.deepEqual(ids(await search([ofProject], byName)), [made[1], made[0]]);
    const ignoring = "TEXT_FILTER_METHOD_EQUALS_IGNORE_CASE";
    for (const filter of [
      { key: { name: "B", method: ignoring } },
      { display_name: { name: "ZORA", method: ignoring } },
      { group: { name: "on", method: "TEXT_FILTER_METHOD_STARTS_WITH" } },
      { in_ids: { ids: [made[0] ?? ""] } },
    ]) {
      const found = await search([ofProject, filter]);
      assert.deepEqual([ids(found), found.details.total_result], [[made[0]], "1"]);
    }
    assert.equal((await search([{ organization: { org_id: organization } }])).result.length, 2);
    assert.equal((await search([], `ctx.org_id=${organization}`)).result.length, 2);
  });
});
