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

const notFound = { code: 5, reason: "PROJECT_GRANT_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const grantOf = async (id: string) => bodyOf(await get(`/project_grants/${id}`)).project_grant;

/** A project with two roles, of one organization, and another organization. */
async function makePlace() {
  const [owner, granted_organization_id] = [await addOrganization(), await addOrganization()];
  const project_id = await addProject(owner);
  await addRoles(project_id, "admin", "reader");
  return { owner, project_id, granted_organization_id };
}

async function makeGrant(role_keys = ["admin", "reader"]) {
  const { owner, ...place } = await makePlace();
  return { owner, ...place, id: await addProjectGrant({ ...place, role_keys }) };
}

describe("granting a project", () => {
  it("answers 201; the grant is active and belongs to the owner of the project", async () => {
    const { owner, ...place } = await makePlace();
    const project_grant = { ...place, role_keys: ["reader"] };
    const { details, ...rest } = bodyOf(await post("/project_grants", project_grant), 201);
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, { type: "OWNER_TYPE_ORG", id: owner });
    // Whoever made it could accept it (J5).
    const accepted = true;
    const read = { details, state: "EFFECTIVE_STATE_ACTIVE", project_grant, accepted };
    assert.deepEqual(await grantOf(details.id), read);
  });

  it("is refused twice for one project and organization", async () => {
    const { id, owner: _, ...place } = await makeGrant();
    const { status, refusal } = await post("/project_grants", place);
    assert.equal(status, 409);
    assertRefused(refusal, { code: 6, reason: "PROJECT_GRANT_EXISTS" });
    bodyOf(await remove(`/project_grants/${id}`));
    await addProjectGrant(place);
  });

  it("D47: is refused with roles that the project lacks", async () => {
    const { owner: _, ...place } = await makePlace();
    await addRoles(await addProject(await addOrganization()), "foreign");
    const before = await eventCount();
    for (const wrong of ["foreign", "ADMIN"]) {
      const grant = { ...place, role_keys: ["admin", wrong] };
      const { status, refusal } = await post("/project_grants", grant);
      assert.equal(status, 400);
      const field = "project_grant.role_keys";
      assertRefused(refusal, { code: 3, reason: "ROLE_KEY_UNKNOWN", field });
    }
    assert.equal(await eventCount(), before);
  });

  it("is refused for what does not exist, and with keys that repeat", async () => {
    const { owner: _, ...place } = await makePlace();
    const refusedFor = async (more: JsonObject) =>
      (await post("/project_grants", { ...place, ...more })).refusal;
    const noProject = { code: 5, reason: "PROJECT_NOT_FOUND" };
    assertRefused(await refusedFor({ project_id: "404" }), noProject);
    const noOrganization = { code: 5, reason: "ORGANIZATION_NOT_FOUND" };
    assertRefused(await refusedFor({ granted_organization_id: "404" }), noOrganization);
    assertRefused(await refusedFor({ role_keys: ["admin", "admin"] }), {
      code: 3,
      reason: "VALIDATION_FAILED",
      field: "project_grant.role_keys",
    });
  });

  it("is refused to whom the project is only granted", async () => {
    const { project_id, granted_organization_id } = await makeGrant();
    const { token } = await addMember(granted_organization_id, ["ORG_OWNER"]);
    const more = { project_id, granted_organization_id: await addOrganization() };
    const { status, refusal } = await post("/project_grants", more, { token });
    assert.equal(status, 403);
    assertRefused(refusal, missing);
  });
});

describe("patching a project grant", () => {
  it("replaces the roles; users lose what it lost with the same answer", async () => {
    const { id, project_id, granted_organization_id } = await makeGrant();
    const user = { user_id: await addUser(granted_organization_id), project_id };
    const role_keys = ["reader", "admin"];
    const userGrant = await addUserGrant({ ...user, project_grant_id: id, role_keys });
    const direct = await addUserGrant({ ...user, role_keys });
    const { details } = bodyOf(await patch(`/project_grants/${id}`, { role_keys: ["admin"] }));
    const read = await grantOf(id);
    assert.deepEqual([read.project_grant.role_keys, read.details], [["admin"], details]);
    const rolesOf = async (one: string) =>
      bodyOf(await get(`/user_grants/${one}`)).user_grant.user_grant.role_keys;
    assert.deepEqual(await rolesOf(userGrant), ["admin"]);
    assert.deepEqual(await rolesOf(direct), role_keys);
  });

  it("records nothing when nothing differs", async () => {
    const { id } = await makeGrant();
    const { details } = await grantOf(id);
    const before = await eventCount();
    const same = { role_keys: ["reader", "admin"] };
    assert.deepEqual(bodyOf(await patch(`/project_grants/${id}`, same)), { details });
    assert.equal(await eventCount(), before);
  });

  it("is refused without a role, since a list that is empty cannot be told from none", async () => {
    const { id } = await makeGrant();
    for (const none of [{}, { role_keys: [] }]) {
      const { refusal } = await patch(`/project_grants/${id}`, none);
      const field = "project_grant.role_keys";
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    }
  });

  it("is refused with roles that the project lacks, and for an unknown grant", async () => {
    const { id } = await makeGrant();
    const { refusal } = await patch(`/project_grants/${id}`, { role_keys: ["none"] });
    const field = "project_grant.role_keys";
    assertRefused(refusal, { code: 3, reason: "ROLE_KEY_UNKNOWN", field });
    const unknown = await patch("/project_grants/404", { role_keys: ["admin"] });
    assertRefused(unknown.refusal, notFound);
  });
});

describe("the state of a project grant", () => {
  it("goes back and forth; an action that finds it there already is refused", async () => {
    const { id } = await makeGrant();
    const act = (action: string) => post(`/project_grants/${id}/_${action}`);
    assertRefused((await act("activate")).refusal, { code: 9, reason: "PROJECT_GRANT_ACTIVE" });
    bodyOf(await act("deactivate"));
    assert.equal((await grantOf(id)).state, "EFFECTIVE_STATE_INACTIVE");
    assertRefused((await act("deactivate")).refusal, { code: 9, reason: "PROJECT_GRANT_INACTIVE" });
    bodyOf(await act("activate"));
    assert.equal((await grantOf(id)).state, "EFFECTIVE_STATE_ACTIVE");
  });
});

describe("deleting a project grant", () => {
  it("takes its user grants and memberships with it", async () => {
    const { id, project_id, granted_organization_id } = await makeGrant();
    const user_id = await addUser(granted_organization_id);
    const grant = { user_id, project_id, project_grant_id: id, role_keys: ["admin"] };
    const userGrant = await addUserGrant(grant);
    const { token } = await addMemberOf({ project_grant_id: id }, ["PROJECT_GRANT_OWNER"]);
    bodyOf(await get(`/user_grants/${userGrant}`, { token }));
    bodyOf(await remove(`/project_grants/${id}`));
    assertRefused((await get(`/project_grants/${id}`)).refusal, notFound);
    const gone = { code: 5, reason: "USER_GRANT_NOT_FOUND" };
    assertRefused((await get(`/user_grants/${userGrant}`)).refusal, gone);
    const left = bodyOf(await post("/memberships/_search", [], { token }));
    assert.equal(left.details.total_result, "0");
  });
});

describe("the organization that a project is granted to", () => {
  it("reads the grant and the project, and changes neither", async () => {
    const { id, project_id, granted_organization_id } = await makeGrant();
    const { token } = await addMember(granted_organization_id, ["ORG_OWNER"]);
    bodyOf(await get(`/project_grants/${id}`, { token }));
    bodyOf(await get(`/projects/${project_id}`, { token }));
    const before = await eventCount();
    for (const refused of [
      await patch(`/project_grants/${id}`, { role_keys: ["admin"] }, { token }),
      await remove(`/project_grants/${id}`, { token }),
      await patch(`/projects/${project_id}`, { name: "mine" }, { token }),
      await remove(`/projects/${project_id}`, { token }),
      await post("/project_roles", { project_id, key: "mine" }, { token }),
    ]) {
      assert.equal(refused.status, 403);
      assertRefused(refused.refusal, missing);
    }
    assert.equal(await eventCount(), before);
    const grants = bodyOf(await post("/project_grants/_search", [], { token }));
    assert.deepEqual([ids(grants), grants.details.total_result], [[id], "1"]);
    const filter = [{ granted_organization_id }];
    for (const [path, options] of [
      ["", { token }],
      ["?ctx.org_id=" + granted_organization_id, { token }],
      ["", {}],
    ] as const) {
      const found = bodyOf(await post(`/projects/_search${path}`, filter, options));
      assert.deepEqual([ids(found), found.details.total_result], [[project_id], "1"]);
    }
  });

  it("no longer sees the project while the grant is inactive, and neither once it is gone (B7)", async () => {
    const { id, project_id, granted_organization_id } = await makeGrant();
    const { token } = await addMember(granted_organization_id, ["ORG_OWNER"]);
    const noProject = { code: 5, reason: "PROJECT_NOT_FOUND" };
    const visible = async () =>
      bodyOf(await post("/projects/_search", [], { token })).details.total_result;
    bodyOf(await post(`/project_grants/${id}/_deactivate`));
    assertRefused((await get(`/projects/${project_id}`, { token })).refusal, noProject);
    assert.equal(await visible(), "0");
    bodyOf(await post(`/project_grants/${id}/_activate`));
    assert.equal(await visible(), "1");
    bodyOf(await remove(`/project_grants/${id}`));
    assertRefused((await get(`/projects/${project_id}`, { token })).refusal, noProject);
    assertRefused((await get(`/project_grants/${id}`, { token })).refusal, notFound);
  });
});

describe("members of a project grant", () => {
  it("grant its roles and nothing else", async () => {
    const { id, project_id, granted_organization_id } = await makeGrant(["reader"]);
    const { token } = await addMemberOf({ project_grant_id: id }, ["PROJECT_GRANT_OWNER"]);
    bodyOf(await get(`/projects/${project_id}`, { token }));
    const user_id = await addUser(granted_organization_id);
    const grant = { user_id, project_id, project_grant_id: id, role_keys: ["reader"] };
    bodyOf(await post("/user_grants", grant, { token }), 201);
    const direct = await post("/user_grants", { user_id, project_id }, { token });
    assert.equal(direct.status, 403);
    assertRefused(direct.refusal, missing);
    const found = bodyOf(await post("/user_grants/_search", [], { token }));
    assert.equal(found.details.total_result, "1");
    const context = { context: { project_grant_id: id } };
    const members = bodyOf(await post("/memberships/_search", [context]));
    assert.deepEqual(members.result[0].membership.ctx, { project_grant_id: id });
  });
});

describe("who may do what to a project grant", () => {
  it("D41: one that the caller may not read answers exactly as an absent one", async () => {
    const { id } = await makeGrant();
    const { token } = await addMember(await addOrganization(), ["ORG_OWNER"]);
    const hidden = await get(`/project_grants/${id}`, { token });
    const absent = await get("/project_grants/404", { token });
    assert.deepEqual([hidden.status, hidden.json], [404, absent.json]);
    for (const refused of [
      await patch(`/project_grants/${id}`, { role_keys: ["admin"] }, { token }),
      await remove(`/project_grants/${id}`, { token }),
      await post(`/project_grants/${id}/_deactivate`, undefined, { token }),
    ]) {
      assertRefused(refused.refusal, notFound);
    }
    const found = bodyOf(await post("/project_grants/_search", [], { token }));
    assert.equal(found.details.total_result, "0");
  });

  it("filters by ids, project, organizations, role and state", async () => {
    const { id, owner, project_id, granted_organization_id } = await makeGrant(["admin"]);
    const second = { project_id, granted_organization_id: await addOrganization() };
    const other = await addProjectGrant({ ...second, role_keys: ["reader"] });
    bodyOf(await post(`/project_grants/${other}/_deactivate`));
    const search = async (filters: JsonObject[], query = "") =>
      ids(bodyOf(await post(`/project_grants/_search?${query}`, filters)));
    assert.deepEqual(await search([{ project_id }]), [other, id]);
    assert.deepEqual(await search([{ project_id }], "query.asc=true"), [id, other]);
    assert.deepEqual(await search([{ granted_organization_id }]), [id]);
    assert.deepEqual(await search([{ organization: { org_id: owner } }]), [other, id]);
    assert.deepEqual(await search([], `ctx.org_id=${owner}`), [other, id]);
    assert.deepEqual(await search([], `ctx.org_id=${granted_organization_id}`), [id]);
    assert.deepEqual(await search([{ in_ids: { ids: [id] } }]), [id]);
    assert.deepEqual(await search([{ project_id }, { role_key: "reader" }]), [other]);
    const inactive = { state: { state: "EFFECTIVE_STATE_INACTIVE" } };
    assert.deepEqual(await search([{ project_id }, inactive]), [other]);
  });
});
