// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@bufbuild/protobuf";
import { verifyProjections } from "../../../src/projection/rebuild.ts";
import { columnName } from "../../../src/storage/table.ts";
import { until } from "../../jobs/place.ts";
import { holdClaims } from "../../jobs/hold-claims.ts";
import { beside } from "../../support/beside.ts";
import { bodyOf, startPeer, uniqueName } from "../../support/peer.ts";
import { assertRefused } from "../../support/refusal.ts";

const service = await startPeer();
const { app, get, post, put, remove, addOrganization, addMember } = service;
after(() => service[Symbol.asyncDispose]());
const { kernel } = app;
const instanceId = app.made.instance_id;

const idOf = (body: { details: { id: string } }) => String(body.details.id);
const make = async (path: string, body: JsonObject, organizationId?: string) => {
  const headers = organizationId === undefined ? {} : { "x-idsvc-orgid": organizationId };
  return idOf(bodyOf(await post(path, body, { token: app.token, headers }), 201));
};

const human = (username: string) => ({
  username,
  data: { given_name: "Augusta", family_name: "King" },
  contact: { email: { address: `${username}@person.example`, is_verified: true } },
});

/** How many rows of a column hold one of these, table by table. */
async function rowsWith(columns: readonly string[], ids: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const table of kernel.projectionTables) {
    for (const column of columns.filter((name) => name in table.columns)) {
      const list = ids.map((id) => `'${id}'`).join(", ");
      const { rows } = await beside(
        kernel,
        `select count(*) from "${table.name}" where "${columnName(column)}" in (${list})`,
      );
      if (Number(rows[0]?.[0]) > 0) found.push(`${table.name}.${column}`);
    }
  }
  return found;
}

const contentsRemoved = async (organizationId: string) =>
  kernel.events.read({
    instanceId,
    types: ["org.contents.removed"],
    aggregate: { type: "org", id: organizationId },
  });

/** An organization with something of every kind, and what ties it to another. */
async function makeFull() {
  const name = uniqueName("leaving");
  const domain = `${name.replace(" ", "-")}.example.com`;
  const [id, other] = [await addOrganization({ name, domain }), await addOrganization()];
  const username = uniqueName("ada").replace(" ", "-");
  const users = [
    await make("/users", human(username), id),
    await make("/users", human(uniqueName("grace").replace(" ", "-")), id),
  ];
  const outsider = await make("/users", human(uniqueName("out").replace(" ", "-")), other);
  const { userId: owner, token } = await addMember(id, ["ORG_OWNER"]);
  const value = Buffer.from("a private note").toString("base64");
  bodyOf(await put(`/users/${users[0]}/metadata/note`, { value }));
  const own = await make("/projects", { name: "Own" }, id);
  const foreign = await make("/projects", { name: "Foreign" }, other);
  for (const project_id of [own, foreign]) {
    await make("/project_roles", { project_id, key: "reader", display_name: "Reader" });
  }
  const role_keys = ["reader"];
  const given = await make("/project_grants", {
    project_id: own,
    granted_organization_id: other,
    role_keys,
  });
  const taken = await make("/project_grants", {
    project_id: foreign,
    granted_organization_id: id,
    role_keys,
  });
  const userGrants = [
    await make("/user_grants", { user_id: users[0] ?? "", project_id: own, role_keys }, id),
    await make(
      "/user_grants",
      { user_id: outsider, project_id: own, project_grant_id: given, role_keys },
      other,
    ),
    await make(
      "/user_grants",
      { user_id: users[1] ?? "", project_id: foreign, project_grant_id: taken, role_keys },
      id,
    ),
  ];
  const member = async (ctx: JsonObject, user_id: string, role: string) =>
    make("/memberships", { ctx, user_id, roles: [role] });
  await member({ org_id: id }, outsider, "ORG_OWNER_VIEWER");
  await member({ org_id: other }, users[0] ?? "", "ORG_OWNER_VIEWER");
  await member({ project_id: own }, outsider, "PROJECT_OWNER");
  await member({ project_grant_id: taken }, users[1] ?? "", "PROJECT_GRANT_OWNER");
  const unproven = await make(
    "/domains",
    { name: `later.${domain}`, validation_type: "DOMAIN_VALIDATION_TYPE_DNS" },
    id,
  );
  return {
    id,
    other,
    name,
    domain,
    users: [...users, owner],
    outsider,
    token,
    own,
    foreign,
    given,
    taken,
    userGrants,
    unproven,
    username,
  };
}

describe("deleting an organization with everything below it", () => {
  it("kills all of it at once, and a job removes it from every table", async () => {
    const full = await makeFull();
    const { id, users, own, given, taken, userGrants, unproven } = full;
    assert.notDeepEqual(await rowsWith(["organizationId"], [id]), []);
    bodyOf(await remove(`/organizations/${id}`));

    // What the call acknowledged holds before the job has done anything.
    const dead: [string, string][] = [
      [`/users/${users[0]}`, "USER_NOT_FOUND"],
      [`/users/${users[0]}/metadata/note`, "USER_NOT_FOUND"],
      [`/projects/${own}`, "PROJECT_NOT_FOUND"],
      [`/domains/${unproven}`, "DOMAIN_NOT_FOUND"],
    ];
    for (const [path, reason] of dead) {
      assertRefused((await get(path)).refusal, { code: 5, reason }, path);
    }
    assert.equal((await get(`/users/${full.outsider}`, { token: full.token })).status, 401);
    const again = await addOrganization({ name: full.name, domain: full.domain });
    await make("/users", human(full.username), again);

    await until(async () => (await contentsRemoved(id)).length > 0, "the contents are removed");
    assert.deepEqual(await rowsWith(["organizationId", "grantedOrganizationId"], [id]), []);
    assert.deepEqual(await rowsWith(["userId"], users), []);
    assert.deepEqual(await rowsWith(["projectId"], [own]), []);
    assert.deepEqual(await rowsWith(["projectGrantId"], [given, taken]), []);
    assert.deepEqual(await rowsWith(["userGrantId"], userGrants), []);
    assert.equal((await contentsRemoved(id)).length, 1);
    const jobs = await beside(
      kernel,
      "select count(*) from jobs where kind = 'org.contents.remove'",
    );
    assert.equal(Number(jobs.rows[0]?.[0]), 0);
  });

  it("shows nothing of it in any search, nor to its members, before it is removed", async () => {
    const full = await makeFull();
    const { id, other, own, token, outsider } = full;
    const jobs = holdClaims(kernel.db);
    bodyOf(await remove(`/organizations/${id}`));
    await until(async () => jobs.waiting() > 0, "the job that removes it is about to begin");
    assert.notDeepEqual(await rowsWith(["organizationId"], [id]), []);
    const searches: [string, JsonObject[]][] = [
      ["/users", [{ organization: { org_id: id } }]],
      ["/projects", []],
      ["/project_roles", [{ project_id: own }]],
      ["/project_grants", []],
      ["/user_grants", []],
      ["/memberships", []],
      ["/domains", []],
      ["/organizations", []],
      ["/sessions", []],
      ["/apps", []],
    ];
    const gone = [id, own, ...full.users, full.given, full.unproven];
    for (const [path, filters] of searches) {
      const shown = bodyOf(await post(`${path}/_search`, filters)).result ?? [];
      const ids = shown.map((each: { details: { id: string } }) => each.details.id);
      assert.deepEqual(
        gone.filter((each) => ids.includes(each)),
        [],
        path,
      );
      assert.ok(
        !JSON.stringify(
          shown.map(({ details }: { details: { owner: object } }) => details.owner),
        ).includes(`"${id}"`),
        path,
      );
    }
    assert.equal((await post("/users/_search", [], { token })).status, 401);
    bodyOf(await get(`/users/${outsider}`));
    bodyOf(await get(`/organizations/${other}`));
    jobs.release();
    await until(async () => (await contentsRemoved(id)).length > 0, "the contents are removed");
  });

  it("leaves what belongs to others", async () => {
    const { id, other, outsider, foreign } = await makeFull();
    bodyOf(await remove(`/organizations/${id}`));
    await until(async () => (await contentsRemoved(id)).length > 0, "the contents are removed");
    for (const path of [`/organizations/${other}`, `/users/${outsider}`, `/projects/${foreign}`]) {
      bodyOf(await get(path));
    }
    const roles = bodyOf(await post("/project_roles/_search", [{ project_id: foreign }]));
    assert.equal(roles.details.total_result, "1");
    const members = [{ in_user_ids: { ids: [outsider] } }];
    assert.deepEqual(bodyOf(await post("/memberships/_search", members)).result, []);
  });

  it("erases what its users' events told of them, and every secret they and its domains had", async () => {
    const { id, users, unproven } = await makeFull();
    const owned = `owner_id in (${[...users, unproven].map((one) => `'${one}'`).join(", ")})`;
    const secrets = () => beside(kernel, `select kind from secrets where ${owned}`);
    assert.ok((await secrets()).rows.length >= 4);
    bodyOf(await remove(`/organizations/${id}`));
    await until(async () => (await contentsRemoved(id)).length > 0, "the contents are removed");
    assert.deepEqual((await secrets()).rows, []);
    const log = await kernel.events.read({
      instanceId,
      aggregate: { type: "user", id: users[0] ?? "" },
    });
    const [added] = log;
    assert.equal(added?.type, "user.human.added");
    const { username, data } = added.payload as { username: string; data: string };
    assert.deepEqual([username, data], ["", ""]);
    assert.equal(log.at(-1)?.type, "user.removed");
  });

  it("says who did it in every event that follows", async () => {
    const { id, users } = await makeFull();
    bodyOf(await remove(`/organizations/${id}`));
    await until(async () => (await contentsRemoved(id)).length > 0, "the contents are removed");
    const [last] = await contentsRemoved(id);
    assert.equal(last?.editorId, app.made.machine.user_id);
    assert.equal(last?.service, "idsvc.resources.org.v3alpha.OrganizationService");
    const [removed] = await kernel.events.read({
      instanceId,
      types: ["user.removed"],
      aggregate: { type: "user", id: users[0] ?? "" },
    });
    assert.equal(removed?.editorId, app.made.machine.user_id);
  });

  it("leaves tables that equal a fresh fold of the log", async () => {
    const differing = await verifyProjections(kernel, kernel.projectionTables);
    assert.deepEqual(
      [...differing].filter(([, rows]) => rows > 0),
      [],
    );
  });
});
