// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { userGrantsOf } from "../../../src/resources/grant/index.ts";
import { membershipReader } from "../../../src/resources/membership/index.ts";
import { bodyOf } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";
import { ids, startGrantPeer } from "./grant-peer.ts";

const service = await startGrantPeer();
const { app, get, post, patch, remove, addOrganization, addMember, eventCount } = service;
const { addProject, addRoles, addProjectGrant, addUserGrant, addUser, addMemberOf } = service;
after(() => service[Symbol.asyncDispose]());

const notFound = { code: 5, reason: "USER_GRANT_NOT_FOUND" };
const noGrant = { code: 5, reason: "PROJECT_GRANT_NOT_FOUND" };
const noProject = { code: 5, reason: "PROJECT_NOT_FOUND" };
const noOrganization = { code: 5, reason: "ORGANIZATION_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const unknownKey = { code: 3, reason: "ROLE_KEY_UNKNOWN", field: "user_grant.role_keys" };
const grantOf = async (id: string) => bodyOf(await get(`/user_grants/${id}`)).user_grant;
const { db } = app.kernel;
const counting = userGrantsOf(db, membershipReader(db)).ofUser;
const rolesOf = async (userId: string) =>
  (await counting(app.made.instance_id, userId)).map(({ roleKeys }) => roleKeys);

/** A project with three roles of one organization, two of which are granted to another one. */
async function makePlace() {
  const [owner, other] = [await addOrganization(), await addOrganization()];
  const project_id = await addProject(owner);
  await addRoles(project_id, "admin", "reader", "secret");
  const granted = { project_id, granted_organization_id: other, role_keys: ["admin", "reader"] };
  return { owner, other, project_id, project_grant_id: await addProjectGrant(granted) };
}

async function makeGrant(role_keys = ["admin"]) {
  const place = await makePlace();
  const user = await addMember(place.owner, []);
  const { project_id } = place;
  const id = await addUserGrant({ user_id: user.userId, project_id, role_keys });
  return { ...place, ...user, id };
}

describe("granting roles to a user", () => {
  it("answers 201; the grant is active and belongs to the owner of the project", async () => {
    const { owner, project_id } = await makePlace();
    const user_grant = { user_id: await addUser(owner), project_id, role_keys: ["secret"] };
    const { details, ...rest } = bodyOf(await post("/user_grants", user_grant), 201);
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, { type: "OWNER_TYPE_ORG", id: owner });
    const read = { details, state: "EFFECTIVE_STATE_ACTIVE", user_grant };
    assert.deepEqual(await grantOf(details.id), read);
  });

  it("by a project grant: belongs to the organization that has it", async () => {
    const { other, project_id, project_grant_id } = await makePlace();
    const user_grant = { user_id: await addUser(other), project_id, project_grant_id };
    const { details } = bodyOf(await post("/user_grants", user_grant), 201);
    assert.equal(details.resource_owner.id, other);
    const read = await grantOf(details.id);
    assert.deepEqual(read.user_grant, { ...user_grant, role_keys: [] });
  });

  it("in the context of an organization that has a project grant: is by that one", async () => {
    const { owner, other, project_id, project_grant_id } = await makePlace();
    const [one, two] = [await addUser(other), await addUser(other)];
    const bare = { project_id, role_keys: ["admin"] };
    const byContext = await addUserGrant({ user_id: one, ...bare }, `?ctx.org_id=${other}`);
    const headers = { "x-idsvc-orgid": other };
    const byHeader = bodyOf(
      await post("/user_grants", { user_id: two, ...bare }, { headers }),
      201,
    );
    for (const id of [byContext, byHeader.details.id]) {
      assert.equal((await grantOf(id)).user_grant.project_grant_id, project_grant_id);
    }
    const ofOwner = await addUserGrant({ user_id: one, ...bare }, `?ctx.org_id=${owner}`);
    assert.equal((await grantOf(ofOwner)).user_grant.project_grant_id, undefined);
    const stranger = `?ctx.org_id=${await addOrganization()}`;
    assertRefused(
      (await post(`/user_grants${stranger}`, { user_id: two, ...bare })).refusal,
      noGrant,
    );
  });

  it("is refused twice for one user, project and project grant", async () => {
    const { id, userId: user_id, project_id, project_grant_id } = await makeGrant();
    const { status, refusal } = await post("/user_grants", { user_id, project_id });
    assert.equal(status, 409);
    assertRefused(refusal, { code: 6, reason: "USER_GRANT_EXISTS" });
    await addUserGrant({ user_id, project_id, project_grant_id });
    bodyOf(await remove(`/user_grants/${id}`));
    await addUserGrant({ user_id, project_id });
  });

  it("is refused with roles that the project, or the project grant, lacks", async () => {
    const { other, project_id, project_grant_id } = await makePlace();
    const user_id = await addUser(other);
    const before = await eventCount();
    for (const wrong of [
      { project_id, role_keys: ["none"] },
      { project_id, project_grant_id, role_keys: ["admin", "secret"] },
    ]) {
      const { status, refusal } = await post("/user_grants", { user_id, ...wrong });
      assert.equal(status, 400);
      assertRefused(refusal, unknownKey);
    }
    assert.equal(await eventCount(), before);
  });

  it("is refused for what does not exist, or is of another project", async () => {
    const { other, project_id, project_grant_id } = await makePlace();
    const user_id = await addUser(other);
    const refusedFor = async (more: JsonObject) =>
      (await post("/user_grants", { user_id, project_id, ...more })).refusal;
    const noUser = { code: 5, reason: "USER_NOT_FOUND" };
    assertRefused(await refusedFor({ user_id: "404" }), noUser);
    assertRefused(await refusedFor({ project_id: "404" }), noProject);
    assertRefused(await refusedFor({ project_grant_id: "404" }), noGrant);
    const elsewhere = await addProject(other);
    assertRefused(await refusedFor({ project_id: elsewhere, project_grant_id }), noGrant);
    const invalid = { code: 3, reason: "VALIDATION_FAILED", field: "user_grant.user_id" };
    assertRefused(await refusedFor({ user_id: "" }), invalid);
  });
});

describe("who may grant roles", () => {
  it("D40: nobody in the projects of others, whatever they name", async () => {
    const { owner, other, project_id, project_grant_id } = await makePlace();
    const mine = await addOrganization();
    const { token, userId: user_id } = await addMember(mine, ["ORG_OWNER"]);
    const before = await eventCount();
    const grant = { user_id, project_id, role_keys: ["admin"] };
    for (const [query, more, reason] of [
      ["", {}, noProject],
      [`?ctx.org_id=${mine}`, {}, noGrant],
      [`?ctx.org_id=${owner}`, {}, noOrganization],
      [`?ctx.org_id=${other}`, {}, noOrganization],
      ["", { project_grant_id }, noGrant],
    ] as const) {
      const { status, refusal } = await post(
        `/user_grants${query}`,
        { ...grant, ...more },
        { token },
      );
      assert.equal(status, 404, query);
      assertRefused(refusal, reason);
    }
    assert.equal(await eventCount(), before);
  });

  it("the granted organization the roles it was given, and no others", async () => {
    const { other, project_id, project_grant_id } = await makePlace();
    const { token } = await addMember(other, ["ORG_USER_MANAGER"]);
    const user_id = await addUser(other);
    const grant = { user_id, project_id, project_grant_id };
    const refused = await post("/user_grants", { ...grant, role_keys: ["secret"] }, { token });
    assertRefused(refused.refusal, unknownKey);
    const granted = await post("/user_grants", { ...grant, role_keys: ["admin"] }, { token });
    const { details } = bodyOf(granted, 201);
    bodyOf(await patch(`/user_grants/${details.id}`, { role_keys: ["reader"] }, { token }));
    const direct = await post("/user_grants", { user_id, project_id }, { token });
    assert.equal(direct.status, 403);
    assertRefused(direct.refusal, missing);
  });

  it("the owner of the project, who does not see what other organizations granted", async () => {
    const { other, project_id, project_grant_id } = await makePlace();
    const { token } = await addMemberOf({ project_id }, ["PROJECT_OWNER"]);
    const user_id = await addUser(other);
    const byGrant = await addUserGrant({ user_id, project_id, project_grant_id });
    const made = await post("/user_grants", { user_id, project_id }, { token });
    const { details } = bodyOf(made, 201);
    const found = bodyOf(await post("/user_grants/_search", [], { token }));
    assert.deepEqual([ids(found), found.details.total_result], [[details.id], "1"]);
    assertRefused((await get(`/user_grants/${byGrant}`, { token })).refusal, notFound);
    bodyOf(await remove(`/user_grants/${details.id}`, { token }));
  });
});

describe("a user", () => {
  it("reads their own grants without a permission, and changes none", async () => {
    const { id, token, project_id } = await makeGrant();
    const other = await addUserGrant({ user_id: (await makeGrant()).userId, project_id });
    bodyOf(await get(`/user_grants/${id}`, { token }));
    const found = bodyOf(await post("/user_grants/_search", [], { token }));
    assert.deepEqual([ids(found), found.details.total_result], [[id], "1"]);
    const absent = await get("/user_grants/404", { token });
    assert.deepEqual((await get(`/user_grants/${other}`, { token })).json, absent.json);
    assertRefused(absent.refusal, notFound);
    for (const refused of [
      await patch(`/user_grants/${id}`, { role_keys: ["secret"] }, { token }),
      await remove(`/user_grants/${id}`, { token }),
      await post(`/user_grants/${id}/_activate`, undefined, { token }),
    ]) {
      assert.equal(refused.status, 403);
      assertRefused(refused.refusal, missing);
    }
  });
});

describe("patching a user grant", () => {
  it("replaces the roles, and records nothing when nothing differs", async () => {
    const { id } = await makeGrant(["admin"]);
    const role_keys = ["reader", "secret"];
    const { details } = bodyOf(await patch(`/user_grants/${id}`, { role_keys }));
    const read = await grantOf(id);
    assert.deepEqual([read.user_grant.role_keys, read.details], [role_keys, details]);
    const before = await eventCount();
    const same = { role_keys: ["secret", "reader"] };
    assert.deepEqual(bodyOf(await patch(`/user_grants/${id}`, same)), { details });
    assert.equal(await eventCount(), before);
    assertRefused((await patch(`/user_grants/${id}`, { role_keys: ["x"] })).refusal, unknownKey);
    assertRefused((await patch("/user_grants/404", { role_keys })).refusal, notFound);
  });

  it("is refused without a role, since a list that is empty cannot be told from none", async () => {
    const { id } = await makeGrant(["admin"]);
    for (const none of [{}, { role_keys: [] }]) {
      const { refusal } = await patch(`/user_grants/${id}`, none);
      const field = "user_grant.role_keys";
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
    }
    assert.deepEqual((await grantOf(id)).user_grant.role_keys, ["admin"]);
  });
});

describe("the state of a user grant", () => {
  it("goes back and forth; an action that finds it there already is refused", async () => {
    const { id } = await makeGrant();
    const act = (action: string) => post(`/user_grants/${id}/_${action}`);
    assertRefused((await act("activate")).refusal, { code: 9, reason: "USER_GRANT_ACTIVE" });
    bodyOf(await act("deactivate"));
    assert.equal((await grantOf(id)).state, "EFFECTIVE_STATE_INACTIVE");
    assertRefused((await act("deactivate")).refusal, { code: 9, reason: "USER_GRANT_INACTIVE" });
    bodyOf(await act("activate"));
    assert.equal((await grantOf(id)).state, "EFFECTIVE_STATE_ACTIVE");
  });
});

describe("the roles of a user that count (B7)", () => {
  it("stop with the grant, the project grant, the project and the organizations", async () => {
    const { owner, other, project_id, project_grant_id } = await makePlace();
    const user_id = await addUser(await addOrganization());
    const role_keys = ["admin"];
    const id = await addUserGrant({ user_id, project_id, project_grant_id, role_keys });
    const [found] = await counting(app.made.instance_id, user_id);
    const place = { projectId: project_id, projectGrantId: project_grant_id };
    assert.deepEqual(found, { ...place, organizationId: other, roleKeys: role_keys });
    for (const path of [
      `/user_grants/${id}`,
      `/project_grants/${project_grant_id}`,
      `/projects/${project_id}`,
      `/organizations/${owner}`,
      `/organizations/${other}`,
    ]) {
      bodyOf(await post(`${path}/_deactivate`));
      assert.deepEqual(await rolesOf(user_id), [], path);
      bodyOf(await post(`${path}/_activate`));
      assert.deepEqual(await rolesOf(user_id), [role_keys], path);
    }
    bodyOf(await remove(`/organizations/${other}`));
    assert.deepEqual(await rolesOf(user_id), []);
  });
});

describe("deleting", () => {
  it("a user grant takes its roles away at once", async () => {
    const { id, userId } = await makeGrant();
    assert.deepEqual(await rolesOf(userId), [["admin"]]);
    bodyOf(await remove(`/user_grants/${id}`));
    assert.deepEqual(await rolesOf(userId), []);
    for (const gone of [await get(`/user_grants/${id}`), await remove(`/user_grants/${id}`)]) {
      assert.equal(gone.status, 404);
      assertRefused(gone.refusal, notFound);
    }
  });

  it("a user takes their grants with them", async () => {
    const { id, userId } = await makeGrant();
    bodyOf(await remove(`/users/${userId}`));
    assertRefused((await get(`/user_grants/${id}`)).refusal, notFound);
  });

  it("a project takes its roles, grants and memberships with it, as one unit", async () => {
    const { id, project_id, project_grant_id, other } = await makeGrant();
    const user_id = await addUser(other);
    const byGrant = await addUserGrant({ user_id, project_id, project_grant_id });
    const owner = await addMemberOf({ project_id }, ["PROJECT_OWNER"]);
    const delegate = await addMemberOf({ project_grant_id }, ["PROJECT_GRANT_OWNER"]);
    const before = await eventCount();
    const { details } = bodyOf(await remove(`/projects/${project_id}`));
    const { events } = app.kernel;
    const log = await events.read({ instanceId: app.made.instance_id, after: BigInt(before) });
    assert.equal(log[0]?.sequence, BigInt(details.sequence));
    assert.deepEqual(log.map(({ type }) => type).sort(), [
      "project.grant.member.cascade.removed",
      "project.grant.removed",
      "project.member.cascade.removed",
      "project.removed",
      "project.role.removed",
      "project.role.removed",
      "project.role.removed",
      "user.grant.cascade.removed",
      "user.grant.cascade.removed",
    ]);
    assert.equal(new Set(log.map(({ createdAt }) => createdAt.getTime())).size, 1);
    for (const one of [id, byGrant]) {
      assertRefused((await get(`/user_grants/${one}`)).refusal, notFound);
    }
    assertRefused((await get(`/project_grants/${project_grant_id}`)).refusal, noGrant);
    const roles = bodyOf(await post("/project_roles/_search", [{ project_id }]));
    assert.equal(roles.details.total_result, "0");
    for (const { token } of [owner, delegate]) {
      const left = bodyOf(await post("/memberships/_search", [], { token }));
      assert.equal(left.details.total_result, "0");
    }
  });
});

describe("searching user grants", () => {
  it("filters by ids, users, project, project grant, role, state and organization, and sorts", async () => {
    const { owner, other, project_id, project_grant_id } = await makePlace();
    const [one, two] = [await addUser(owner), await addUser(other)];
    const direct = await addUserGrant({ user_id: one, project_id, role_keys: ["secret"] });
    const byGrant = { user_id: two, project_id, project_grant_id, role_keys: ["reader"] };
    const granted = await addUserGrant(byGrant);
    bodyOf(await post(`/user_grants/${granted}/_deactivate`));
    const search = async (filters: JsonObject[], query = "") =>
      ids(bodyOf(await post(`/user_grants/_search?${query}`, filters)));
    assert.deepEqual(await search([{ project_id }]), [granted, direct]);
    const byUser = "query.asc=true&sorting_column=USER_GRANT_FIELD_NAME_USER_ID";
    assert.deepEqual(await search([{ project_id }], byUser), [direct, granted]);
    assert.deepEqual(await search([{ project_grant_id }]), [granted]);
    assert.deepEqual(await search([{ in_user_ids: { ids: [one] } }]), [direct]);
    assert.deepEqual(await search([{ in_ids: { ids: [direct] } }]), [direct]);
    assert.deepEqual(await search([{ project_id }, { role_key: "secret" }]), [direct]);
    const inactive = { state: { state: "EFFECTIVE_STATE_INACTIVE" } };
    assert.deepEqual(await search([{ project_id }, inactive]), [granted]);
    assert.deepEqual(await search([{ organization: { org_id: owner } }]), [direct]);
    assert.deepEqual(await search([], `ctx.org_id=${other}`), [granted]);
  });
});
