// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { addCaller } from "../../support/app.ts";
import { assertRefused } from "../../support/refusal.ts";
import { bodyOf, startPeer } from "../../support/peer.ts";

const service = await startPeer();
const { app, get, post, patch, remove, addOrganization, addMember } = service;
after(() => service[Symbol.asyncDispose]());

const { instance_id: instanceId, organization_id: defaultId, project_id: projectId } = app.made;
const notFound = { code: 5, reason: "MEMBERSHIP_NOT_FOUND" };
const missing = { code: 7, reason: "PERMISSION_MISSING" };
const beyond = { code: 7, reason: "ROLE_NOT_GRANTABLE" };
const newUser = async () => (await addCaller(app, [])).userId;
const membershipOf = async (id: string) => bodyOf(await get(`/memberships/${id}`)).membership;
const create = (ctx: JsonObject, user_id: string, roles: string[], token?: string) =>
  post("/memberships", { ctx, user_id, roles }, token === undefined ? {} : { token });

describe("creating a membership", () => {
  const contexts: [string, () => JsonObject, string, string][] = [
    ["an instance", () => ({ instance_id: instanceId }), "IAM_OWNER_VIEWER", "OWNER_TYPE_INSTANCE"],
    ["an organization", () => ({ org_id: defaultId }), "ORG_USER_MANAGER", "OWNER_TYPE_ORG"],
    ["a project", () => ({ project_id: projectId }), "PROJECT_OWNER", "OWNER_TYPE_ORG"],
  ];
  for (const [what, ctx, role, owner] of contexts) {
    it(`makes a user a member of ${what}`, async () => {
      const user_id = await newUser();
      const { details } = bodyOf(await create(ctx(), user_id, [role]), 201);
      assert.equal(details.resource_owner.type, owner);
      const membership = { ctx: ctx(), user_id, roles: [role] };
      assert.deepEqual(await membershipOf(details.id), { details, membership, accepted: true });
    });
  }

  it("without ctx: is in the organization of the header, else in the instance", async () => {
    const [one, two] = [await newUser(), await newUser()];
    const inOrganization = await post(
      "/memberships",
      { user_id: one, roles: ["ORG_OWNER"] },
      { headers: { "x-idsvc-orgid": defaultId } },
    );
    const first = await membershipOf(bodyOf(inOrganization, 201).details.id);
    assert.deepEqual(first.membership.ctx, { org_id: defaultId });
    const onInstance = await post("/memberships", { user_id: two, roles: ["IAM_OWNER"] });
    const second = await membershipOf(bodyOf(onInstance, 201).details.id);
    assert.deepEqual(second.membership.ctx, { instance_id: instanceId });
  });

  it("works at once, and stops working at once when it ends (B7)", async () => {
    const { userId, token } = await addCaller(app, []);
    assert.equal((await get(`/organizations/${defaultId}`, { token })).status, 403);
    const { details } = bodyOf(await create({ org_id: defaultId }, userId, ["ORG_OWNER"]), 201);
    bodyOf(await get(`/organizations/${defaultId}`, { token }));
    bodyOf(await remove(`/memberships/${details.id}`));
    assert.equal((await get(`/organizations/${defaultId}`, { token })).status, 403);
  });

  it("is refused twice in one context", async () => {
    const user = await newUser();
    bodyOf(await create({ org_id: defaultId }, user, ["ORG_OWNER"]), 201);
    const { status, refusal } = await create({ org_id: defaultId }, user, ["ORG_USER_MANAGER"]);
    assert.equal(status, 409);
    assertRefused(refusal, { code: 6, reason: "MEMBERSHIP_EXISTS" });
    bodyOf(await create({ instance_id: instanceId }, user, ["IAM_OWNER"]), 201);
  });

  const unknown: [string, JsonObject, string][] = [
    ["instance", { instance_id: "404" }, "INSTANCE_NOT_FOUND"],
    ["organization", { org_id: "404" }, "ORGANIZATION_NOT_FOUND"],
    ["organization's domain", { org_domain: "404.test" }, "ORGANIZATION_NOT_FOUND"],
    ["project", { project_id: "404" }, "PROJECT_NOT_FOUND"],
    ["project grant", { project_grant_id: "404" }, "PROJECT_GRANT_NOT_FOUND"],
  ];
  for (const [what, ctx, reason] of unknown) {
    it(`is refused in an unknown ${what}`, async () => {
      const { status, refusal } = await create(ctx, await newUser(), ["ORG_OWNER"]);
      assert.equal(status, 404);
      assertRefused(refusal, { code: 5, reason });
    });
  }

  it("is refused for an unknown user, an unknown role, a role of another context, and no role", async () => {
    const user = await newUser();
    const ctx = { org_id: defaultId };
    assertRefused((await create(ctx, "404", ["ORG_OWNER"])).refusal, {
      code: 5,
      reason: "USER_NOT_FOUND",
    });
    for (const role of ["NOBODY", "IAM_OWNER"]) {
      const { refusal } = await create(ctx, user, [role]);
      assertRefused(refusal, { code: 3, reason: "ROLE_UNKNOWN", field: "membership.roles" });
    }
    const { refusal } = await create(ctx, user, []);
    assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field: "membership.roles" });
  });
});

describe("who may give roles", () => {
  it("nobody gives more than they have in the context", async () => {
    const organization = await addOrganization();
    const owner = await addMember(organization, ["ORG_OWNER"]);
    const user = (await addMember(organization, [])).userId;
    const ctx = { org_id: organization };
    assertRefused(
      (await create(ctx, user, ["SELF_MANAGEMENT_GLOBAL"], owner.token)).refusal,
      beyond,
    );
    const { details } = bodyOf(await create(ctx, user, ["ORG_USER_MANAGER"], owner.token), 201);
    const more = { roles: ["ORG_USER_MANAGER", "SELF_MANAGEMENT_GLOBAL"] };
    const { status, refusal } = await patch(`/memberships/${details.id}`, more, {
      token: owner.token,
    });
    assert.equal(status, 403);
    assertRefused(refusal, beyond);
    assert.deepEqual((await membershipOf(details.id)).membership.roles, ["ORG_USER_MANAGER"]);
  });

  it("an owner of the context names its impersonators and login clients", async () => {
    const ctx = { instance_id: instanceId };
    for (const role of ["IAM_ADMIN_IMPERSONATOR", "IAM_LOGIN_CLIENT"]) {
      bodyOf(await create(ctx, await newUser(), [role]), 201);
    }
  });

  it("a login client makes nobody a member", async () => {
    const client = await addCaller(app, ["IAM_LOGIN_CLIENT"]);
    const ctx = { instance_id: instanceId };
    const { refusal } = await create(ctx, await newUser(), ["IAM_OWNER"], client.token);
    assertRefused(refusal, missing);
  });

  it("an organization's owner names no members of the instance or of other organizations", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token, userId } = await addMember(mine, ["ORG_OWNER"]);
    const ofInstance = await create({ instance_id: instanceId }, userId, ["IAM_OWNER"], token);
    assertRefused(ofInstance.refusal, missing);
    const ofOther = await create({ org_id: other }, userId, ["ORG_OWNER"], token);
    assertRefused(ofOther.refusal, { code: 5, reason: "ORGANIZATION_NOT_FOUND" });
  });

  it("gives system roles to nobody but system callers", async () => {
    const { status, refusal } = await create({ system: true }, await newUser(), ["SYSTEM_OWNER"]);
    assert.equal(status, 403);
    assertRefused(refusal, missing);
  });
});

describe("changing and ending a membership", () => {
  it("replaces the roles, and records nothing when they are the same", async () => {
    const ctx = { org_id: defaultId };
    const { details } = bodyOf(await create(ctx, await newUser(), ["ORG_OWNER"]), 201);
    const path = `/memberships/${details.id}`;
    const changed = bodyOf(await patch(path, { roles: ["ORG_USER_MANAGER", "ORG_OWNER_VIEWER"] }));
    assert.ok(Number(changed.details.sequence) > Number(details.sequence));
    const same = bodyOf(await patch(path, { roles: ["ORG_OWNER_VIEWER", "ORG_USER_MANAGER"] }));
    assert.deepEqual(same.details, changed.details);
    for (const none of [{}, { roles: [] }]) {
      const { refusal } = await patch(path, none);
      assertRefused(refusal, { code: 3, reason: "VALIDATION_FAILED", field: "membership.roles" });
    }
  });

  it("leaves the instance an owner", async () => {
    const lonely = await startPeer();
    try {
      const owners = [{ role: { role: "IAM_OWNER" } }];
      const { result } = bodyOf(await lonely.post("/memberships/_search", owners));
      const [first, last] = result.map(({ details }: { details: { id: string } }) => details.id);
      assert.equal(result.length, 2);
      const mine = result.find(
        ({ membership }: { membership: { user_id: string } }) =>
          membership.user_id === lonely.app.made.machine.user_id,
      ).details.id;
      bodyOf(await lonely.remove(`/memberships/${mine === first ? last : first}`));
      const viewer = { roles: ["IAM_OWNER_VIEWER"] };
      for (const refused of [
        await lonely.remove(`/memberships/${mine}`),
        await lonely.patch(`/memberships/${mine}`, viewer),
      ]) {
        assertRefused(refused.refusal, { code: 9, reason: "LAST_OWNER" });
      }
    } finally {
      await lonely[Symbol.asyncDispose]();
    }
  });

  it("leaves the instance an owner, also where two lose the role at once", async () => {
    const peer = await startPeer();
    try {
      const { machine, admin } = peer.app.made;
      const checks = {
        user: { user_id: admin.user_id },
        password: { password: admin.password },
      };
      const { session_token: token } = bodyOf(await peer.post("/sessions", { checks }), 201);
      const callers = new Map([
        [machine.user_id, { token: machine.token }],
        [admin.user_id, { token: String(token) }],
      ]);
      const by = await addCaller(peer.app, ["IAM_OWNER_VIEWER"]);
      const owners = [{ role: { role: "IAM_OWNER" } }];
      const { result } = bodyOf(await peer.post("/memberships/_search", owners));
      assert.equal(result.length, 2);
      type Found = { details: { id: string }; membership: { user_id: string } };
      const answers: Awaited<ReturnType<typeof patch>>[] = await Promise.all(
        result.map(({ details, membership }: Found) =>
          peer.patch(
            `/memberships/${details.id}`,
            { roles: ["IAM_LOGIN_CLIENT"] },
            callers.get(membership.user_id),
          ),
        ),
      );
      const statuses = answers.map(({ status }) => status);
      assert.deepEqual(new Set(statuses), new Set([200, 400]));
      for (const { status, refusal } of answers) {
        if (status !== 200) assertRefused(refusal, { code: 9, reason: "LAST_OWNER" });
      }
      assert.equal(bodyOf(await peer.post("/memberships/_search", owners, by)).result.length, 1);
    } finally {
      await peer[Symbol.asyncDispose]();
    }
  });

  it("answers 404 for an unknown one, and for one the caller may not read", async () => {
    const [mine, other] = [await addOrganization(), await addOrganization()];
    const { token } = await addMember(mine, ["ORG_OWNER"]);
    const { userId } = await addMember(other, []);
    const { details } = bodyOf(await create({ org_id: other }, userId, ["ORG_OWNER"]), 201);
    const absent = await get("/memberships/404", { token });
    assertRefused(absent.refusal, notFound);
    assert.deepEqual((await get(`/memberships/${details.id}`, { token })).json, absent.json);
    assertRefused((await remove(`/memberships/${details.id}`, { token })).refusal, notFound);
  });
});

describe("searching memberships", () => {
  it("filters by ids, users, context and role", async () => {
    const organization = await addOrganization();
    const { userId } = await addMember(organization, ["ORG_OWNER", "ORG_USER_MANAGER"]);
    const other = await addMember(organization, ["ORG_OWNER_VIEWER"]);
    const search = async (filters: JsonObject[]) =>
      bodyOf(await post("/memberships/_search", filters));
    const context = { context: { org_id: organization } };
    assert.equal((await search([context])).details.total_result, "2");
    const ofUser = await search([context, { in_user_ids: { ids: [userId] } }]);
    assert.deepEqual(
      ofUser.result.map(
        ({ membership }: { membership: { user_id: string } }) => membership.user_id,
      ),
      [userId],
    );
    const viewers = await search([context, { role: { role: "ORG_OWNER_VIEWER" } }]);
    assert.equal(viewers.result[0].membership.user_id, other.userId);
    assert.equal(
      (await search([context, { role: { role: "ORG_OWNER" } }])).details.total_result,
      "1",
    );
    const byId = await search([{ in_ids: { ids: [viewers.result[0].details.id] } }]);
    assert.equal(byId.details.total_result, "1");
  });

  it("shows everybody their own, and to who may read members those of the context", async () => {
    const organization = await addOrganization();
    const { token } = await addMember(organization, ["ORG_OWNER"]);
    const plain = await addMember(organization, ["ORG_USER_MANAGER"]);
    const seen = bodyOf(await post("/memberships/_search", [], { token }));
    assert.equal(seen.details.total_result, "2");
    const own = bodyOf(await post("/memberships/_search", [], { token: plain.token }));
    assert.deepEqual(
      own.result.map(({ membership }: { membership: { user_id: string } }) => membership.user_id),
      [plain.userId],
    );
  });
});

describe("available roles", () => {
  it("are those of the context", async () => {
    const roles = async (query: string) =>
      bodyOf(await get(`/memberships/available_roles${query}`)).roles;
    assert.ok((await roles("")).every((role: string) => role.startsWith("IAM_")));
    assert.ok((await roles(`?ctx.org_id=${defaultId}`)).includes("ORG_OWNER"));
    assert.ok((await roles(`?ctx.project_id=${projectId}`)).includes("PROJECT_OWNER"));
    assert.deepEqual(await roles("?ctx.system=true"), ["SYSTEM_OWNER", "SYSTEM_OWNER_VIEWER"]);
    assertRefused((await get("/memberships/available_roles?ctx.org_id=404")).refusal, {
      code: 5,
      reason: "ORGANIZATION_NOT_FOUND",
    });
  });

  it("say what each of them gives, and what of it counts in organizations alone", async () => {
    const { roles, permissions } = bodyOf(await get("/memberships/available_roles"));
    assert.deepEqual(
      permissions.map(({ role }: { role: string }) => role),
      roles,
    );
    const given = (role: string) =>
      permissions.find((each: { role: string }) => each.role === role);
    const owner = given("IAM_OWNER");
    assert.ok(owner.permissions.includes("idp.write"));
    assert.deepEqual(owner.permissions, owner.permissions.toSorted());
    assert.deepEqual(owner.only_in_organizations, []);
    const manager = given("IAM_ORG_MANAGER");
    assert.ok(manager.permissions.includes("idp.write"));
    assert.deepEqual(manager.only_in_organizations, ["idp.delete", "idp.read", "idp.write"]);
  });
});
