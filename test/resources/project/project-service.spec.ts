// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";

const service = await startPeer();
const { app, get, post, patch, remove, addOrganization, addMember, eventCount } = service;
after(() => service[Symbol.asyncDispose]());

const { organization_id: defaultId, project_id: ownId } = app.made;
const notFound = { code: 5, reason: "PROJECT_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const ofService = { code: 9, reason: "PROJECT_OF_SERVICE" };
const projectOf = async (id: string) => bodyOf(await get(`/projects/${id}`)).project;
const ids = (found: { result: { details: { id: string } }[] }) =>
  found.result.map(({ details }) => details.id);

async function addProject(organizationId = defaultId, more: JsonObject = {}): Promise<string> {
  const project = { name: uniqueName("project"), ...more };
  const answer = await post(`/projects?ctx.org_id=${organizationId}`, project);
  return String(bodyOf(answer, 201).details.id);
}

/** A user of another organization who holds a role on one project only. */
async function addProjectMember(project_id: string, roles: string[]) {
  const member = await addMember(await addOrganization(), []);
  const membership = { ctx: { project_id }, user_id: member.userId, roles };
  bodyOf(await post("/memberships", membership), 201);
  return member;
}

describe("creating a project", () => {
  it("answers 201; the project is active and belongs to the organization of the context", async () => {
    const organization = await addOrganization();
    const project = { name: "Größe", role_assertion: true, project_access_required: true };
    const made = await post(`/projects?ctx.org_id=${organization}`, project);
    const { details, ...rest } = bodyOf(made, 201);
    assert.deepEqual(rest, {});
    assert.deepEqual(details.resource_owner, { type: "OWNER_TYPE_ORG", id: organization });
    assert.deepEqual(await projectOf(details.id), {
      details,
      state: "EFFECTIVE_STATE_ACTIVE",
      project: { ...project, authorization_required: false },
    });
  });

  it("is in the organization of the header, else in the caller's own (B2)", async () => {
    const organization = await addOrganization();
    const headers = { "x-idsvc-orgid": organization };
    const inHeader = bodyOf(await post("/projects", { name: "x" }, { headers }), 201);
    assert.equal(inHeader.details.resource_owner.id, organization);
    const { token } = await addMember(organization, ["ORG_PROJECT_CREATOR"]);
    const own = bodyOf(await post("/projects", { name: "x" }, { token }), 201);
    assert.equal(own.details.resource_owner.id, organization);
  });

  const refused: [string, JsonObject, string][] = [
    ["without a name", {}, "project.name"],
    ["with a name of 201 characters", { name: "n".repeat(201) }, "project.name"],
    ["with control characters in the name", { name: "a\u0000b" }, "project.name"],
  ];
  for (const [what, project, field] of refused) {
    it(`is refused ${what}`, async () => {
      const before = await eventCount();
      const { status, refusal } = await post("/projects", project);
      assert.equal(status, 400);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field });
      assert.equal(await eventCount(), before);
    });
  }

  it("is refused where the caller may not create projects (D40)", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const before = await eventCount();
    for (const options of [
      { token, path: `?ctx.org_id=${other}` },
      { token, path: "", headers: { "x-idsvc-orgid": other } },
    ]) {
      const { path, ...call } = options;
      const { refusal } = await post(`/projects${path}`, { name: "x" }, call);
      assertRefused(refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
    }
    assert.equal(await eventCount(), before);
    assertRefused((await post("/projects?ctx.org_id=404", { name: "x" })).refusal, {
      code: 5,
      reason: "ORGANIZATION_NOT_FOUND",
    });
  });
});

describe("patching a project", () => {
  it("changes what is given, and records nothing when nothing differs", async () => {
    const id = await addProject(defaultId, { name: "before", authorization_required: true });
    const changes = { name: "after", role_assertion: true, authorization_required: false };
    const { details } = bodyOf(await patch(`/projects/${id}`, changes));
    const read = await projectOf(id);
    assert.deepEqual(read.project, { ...changes, project_access_required: false });
    assert.deepEqual(read.details, details);
    const before = await eventCount();
    for (const same of [{}, { name: "after" }]) {
      assert.deepEqual(bodyOf(await patch(`/projects/${id}`, same)), { details });
    }
    assert.equal(await eventCount(), before);
  });

  it("D46: is refused with what a patch cannot change", async () => {
    const id = await addProject();
    for (const field of ["id", "state", "resource_owner", "sequence"]) {
      const { status, refusal } = await patch(`/projects/${id}`, { [field]: "1" });
      assert.equal(status, 400, field);
      assert.equal(refusal?.code, 3);
    }
  });

  it("is refused for an unknown project", async () => {
    const { status, refusal } = await patch("/projects/404", { name: "x" });
    assert.equal(status, 404);
    assertRefused(refusal, notFound);
  });
});

describe("the state of a project", () => {
  it("goes back and forth; an action that finds it there already is refused", async () => {
    const id = await addProject();
    const act = (action: string) => post(`/projects/${id}/_${action}`);
    assertRefused((await act("activate")).refusal, { code: 9, reason: "PROJECT_ACTIVE" });
    bodyOf(await act("deactivate"));
    assert.equal((await projectOf(id)).state, "EFFECTIVE_STATE_INACTIVE");
    assertRefused((await act("deactivate")).refusal, { code: 9, reason: "PROJECT_INACTIVE" });
    const { details } = bodyOf(await act("activate"));
    const read = await projectOf(id);
    assert.deepEqual([read.state, read.details], ["EFFECTIVE_STATE_ACTIVE", details]);
  });
});

describe("the project of the service itself", () => {
  it("can be neither deleted nor deactivated", async () => {
    const before = await eventCount();
    assertRefused((await remove(`/projects/${ownId}`)).refusal, ofService);
    assertRefused((await post(`/projects/${ownId}/_deactivate`)).refusal, ofService);
    assert.equal(await eventCount(), before);
  });
});

describe("deleting a project", () => {
  it("takes it away at once", async () => {
    const id = await addProject();
    const { details } = bodyOf(await remove(`/projects/${id}`));
    assert.equal(details.id, id);
    for (const gone of [
      await get(`/projects/${id}`),
      await remove(`/projects/${id}`),
      await patch(`/projects/${id}`, { name: "x" }),
      await post(`/projects/${id}/_deactivate`),
    ]) {
      assert.equal(gone.status, 404);
      assertRefused(gone.refusal, notFound);
    }
  });

  it("goes with its organization (B7)", async () => {
    const organization = await addOrganization();
    const id = await addProject(organization);
    bodyOf(await remove(`/organizations/${organization}`));
    assertRefused((await get(`/projects/${id}`)).refusal, notFound);
    assertRefused((await patch(`/projects/${id}`, { name: "x" })).refusal, notFound);
    const found = bodyOf(await post("/projects/_search", [{ in_ids: { ids: [id] } }]));
    assert.deepEqual([ids(found), found.details.total_result], [[], "0"]);
  });
});

describe("who may do what to a project", () => {
  it("D41: a project that the caller may not read answers exactly as an absent one", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const id = await addProject(other);
    const hidden = await get(`/projects/${id}`, { token });
    const absent = await get("/projects/404", { token });
    assert.deepEqual([hidden.status, hidden.json], [404, absent.json]);
    const before = await eventCount();
    for (const refused of [
      await patch(`/projects/${id}`, { name: "mine" }, { token }),
      await remove(`/projects/${id}`, { token }),
      await post(`/projects/${id}/_deactivate`, undefined, { token }),
      await post(`/projects/${id}/_activate`, undefined, { token }),
    ]) {
      assert.equal(refused.status, 404);
      assertRefused(refused.refusal, notFound);
    }
    assert.equal(await eventCount(), before);
  });

  it("who may only read it does not change it", async () => {
    const id = await addProject();
    const { token } = await addMember(defaultId, ["ORG_OWNER_VIEWER", "ORG_PROJECT_CREATOR"]);
    bodyOf(await get(`/projects/${id}`, { token }));
    // They hold project.write on another project, so that the call as such is open to them.
    const owner = await addProjectMember(await addProject(), ["PROJECT_OWNER"]);
    const viewer = {
      ctx: { project_id: id },
      user_id: owner.userId,
      roles: ["PROJECT_OWNER_VIEWER"],
    };
    bodyOf(await post("/memberships", viewer), 201);
    for (const refused of [
      await patch(`/projects/${id}`, { name: "mine" }, owner),
      await remove(`/projects/${id}`, owner),
    ]) {
      assert.equal(refused.status, 403);
      assertRefused(refused.refusal, missing);
    }
  });

  it("its own owner does everything to it, and to no other project", async () => {
    const [id, other] = [await addProject(), await addProject()];
    const { token } = await addProjectMember(id, ["PROJECT_OWNER"]);
    bodyOf(await patch(`/projects/${id}`, { name: "mine" }, { token }));
    assertRefused((await get(`/projects/${other}`, { token })).refusal, notFound);
    const found = bodyOf(await post("/projects/_search", [], { token }));
    assert.deepEqual([ids(found), found.details.total_result], [[id], "1"]);
    bodyOf(await post(`/projects/${id}/_deactivate`, undefined, { token }));
    bodyOf(await remove(`/projects/${id}`, { token }));
  });
});

describe("searching projects", () => {
  it("filters by ids, name, state and organization, and sorts by what is asked", async () => {
    const organization = await addOrganization({ domain: "projects.found.test" });
    const tag = uniqueName("found");
    const made = [
      await addProject(organization, { name: `${tag} b` }),
      await addProject(organization, { name: `${tag} A` }),
      await addProject(defaultId, { name: `${tag} c` }),
    ];
    bodyOf(await post(`/projects/${made[2]}/_deactivate`));
    const named = { name: { name: tag, method: "TEXT_FILTER_METHOD_STARTS_WITH" } };
    const search = async (filters: JsonObject[], query = "") =>
      bodyOf(await post(`/projects/_search?${query}`, filters));
    const byName = "query.asc=true&sorting_column=PROJECT_FIELD_NAME_NAME";
    const sorted = await search([named], byName);
    assert.deepEqual(ids(sorted), [made[1], made[0], made[2]]);
    assert.deepEqual([sorted.details.total_result, sorted.details.end_of_list], ["3", true]);
    assert.deepEqual(ids(await search([named])), [made[2], made[1], made[0]]);
    const inactive = { state: { state: "EFFECTIVE_STATE_INACTIVE" } };
    assert.deepEqual(ids(await search([named, inactive])), [made[2]]);
    assert.deepEqual(ids(await search([{ in_ids: { ids: [made[0] ?? ""] } }])), [made[0]]);
    for (const owner of [{ org_id: organization }, { org_domain: "projects.found.test" }]) {
      assert.deepEqual(ids(await search([{ organization: owner }])), [made[1], made[0]]);
    }
    assert.deepEqual(ids(await search([{ organization: { org_domain: "404.test" } }])), []);
    assert.deepEqual(ids(await search([], `ctx.org_id=${organization}`)), [made[1], made[0]]);
    const page = await search([named], "query.limit=1&query.offset=1");
    assert.deepEqual([ids(page), page.details.end_of_list], [[made[1]], false]);
  });

  it("D42: shows only what the caller may read, and counts only that", async () => {
    const organization = await addOrganization();
    const id = await addProject(organization);
    const { token } = await addMember(organization, ["ORG_OWNER_VIEWER"]);
    const found = bodyOf(await post("/projects/_search", [], { token }));
    assert.deepEqual([ids(found), found.details.total_result], [[id], "1"]);
  });
});
