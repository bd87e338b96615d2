import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { type Contestants, judge, told, together } from "./race-contestants.ts";
import type { Race } from "./races.ts";

type Wanted = [method: string, path: string, body?: JsonValue];

const idOf = (answer: Parameters<typeof bodyOf>[0]): string =>
  String(bodyOf(answer, 201).details.id);
const newProject = async ({ peer }: Contestants, at = "") =>
  idOf(await peer.post(`/projects${at}`, { name: uniqueName("going") }));
const newMachine = (): JsonObject => ({
  username: uniqueName("going"),
  schema_id: "machine",
  data: { name: "Robot" },
});
const notFound = (kind: string) => `${kind}_NOT_FOUND`;
const kinds = [
  "PROJECT",
  "ORGANIZATION",
  "USER",
  "ROLE",
  "PROJECT_GRANT",
  "IDP",
  "USER_SCHEMA",
  "TARGET",
  "SESSION",
  "APP",
];
const gone = [
  ...kinds.map(notFound),
  "ROLE_KEY_UNKNOWN",
  "INVALID_CREDENTIALS",
  "USER_CHANGED",
  "IDP_LINK_EXISTS",
];

/** Takes an object away while others make what belongs to it, and looks for what is left of it. */
async function takeAway(all: Contestants, many: number, id: string, how: Wanted, others: Wanted[]) {
  // It begins somewhere among the others, and begins again as long as these keep winning.
  const take = async (turn: number) => {
    for (;;) {
      const answer = await all.call(...how)(turn);
      if (told(answer) !== "CONCURRENT_CHANGE") return answer;
    }
  };
  const at = many % (others.length + 1);
  const calls = others.map((each) => all.call(...each));
  const answers = await together(calls.toSpliced(at, 0, take));
  const [taken] = answers.splice(at, 1);
  assert.ok(taken && taken.status < 300, taken && told(taken));
  judge(answers, ...gone);
  await all.settled();
  assert.deepEqual(await all.namedBy(id), [], `what is left: ${answers.map(told).join()}`);
}

const events = [
  "user.removed",
  "user.locked",
  "user.unlocked",
  "user.deactivated",
  "org.removed",
  "project.added",
  "project.removed",
  "org.added",
];

const oidc = {
  redirect_uris: ["https://rp.test/cb"],
  response_types: ["OIDC_RESPONSE_TYPE_CODE"],
  grant_types: ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE"],
};

/** Nothing that belongs to what goes comes to be while it goes. */
export const goneRaces: Readonly<Record<string, Race>> = {
  async "a project"(all, many) {
    const { peer } = all;
    const [project_id, granted, user_id] = [
      await newProject(all),
      await peer.addOrganization(),
      await peer.addPerson(),
    ];
    const app = idOf(await peer.post("/apps", { name: "first", project_id, api: {} }));
    bodyOf(await peer.post("/project_roles", { project_id, key: "first" }), 201);
    await takeAway(
      all,
      many,
      project_id,
      ["DELETE", `/projects/${project_id}`],
      [
        ["POST", "/apps", { name: "a", project_id, oidc }],
        ["POST", "/project_roles", { project_id, key: "a" }],
        ["POST", "/user_grants", { user_id, project_id, role_keys: ["first"] }],
        [
          "POST",
          "/project_grants",
          { project_id, granted_organization_id: granted, role_keys: ["first"] },
        ],
        ["POST", "/memberships", { ctx: { project_id }, user_id, roles: ["PROJECT_OWNER"] }],
        ["POST", `/apps/${app}/keys`, {}],
        ["PATCH", `/projects/${project_id}`, { name: "renamed" }],
      ],
    );
    assert.deepEqual(await all.namedBy(app), []);
  },

  async "a role"(all, many) {
    const { peer } = all;
    const [project_id, granted] = [await newProject(all), await peer.addOrganization()];
    const key = uniqueName("role");
    const role = idOf(await peer.post("/project_roles", { project_id, key }));
    const people = [await peer.addPerson(), await peer.addPerson(), await peer.addPerson()];
    const grants: string[] = [];
    for (const user_id of people.slice(1))
      grants.push(idOf(await peer.post("/user_grants", { user_id, project_id })));
    const other = await peer.addOrganization();
    const given = idOf(
      await peer.post("/project_grants", {
        project_id,
        granted_organization_id: other,
        role_keys: [key],
      }),
    );
    await takeAway(
      all,
      many,
      role,
      ["DELETE", `/project_roles/${role}`],
      [
        ["POST", "/user_grants", { user_id: people[0] ?? "", project_id, role_keys: [key] }],
        ["PATCH", `/user_grants/${grants[0]}`, { role_keys: [key] }],
        [
          "POST",
          "/project_grants",
          { project_id, granted_organization_id: granted, role_keys: [key] },
        ],
        [
          "POST",
          "/user_grants",
          { user_id: people[1] ?? "", project_id, project_grant_id: given, role_keys: [key] },
        ],
        ["PATCH", `/user_grants/${grants[1]}`, { role_keys: [key] }],
      ],
    );
    assert.deepEqual(await all.namedBy(key), []);
  },

  async "a project grant"(all, many) {
    const { peer } = all;
    const [project_id, to] = [await newProject(all), await peer.addOrganization()];
    const [user_id, other] = [await peer.addPerson(), await peer.addPerson()];
    const made = await peer.post("/project_grants", { project_id, granted_organization_id: to });
    const project_grant_id = idOf(made);
    await takeAway(
      all,
      many,
      project_grant_id,
      ["DELETE", `/project_grants/${project_grant_id}`],
      [
        ["POST", "/user_grants", { user_id, project_id, project_grant_id }],
        [
          "POST",
          "/memberships",
          { ctx: { project_grant_id }, user_id, roles: ["PROJECT_GRANT_OWNER"] },
        ],
        ["POST", "/user_grants", { user_id: other, project_id, project_grant_id }],
      ],
    );
  },

  async "a user"(all, many) {
    const { peer } = all;
    const id = await peer.addPerson();
    const idp = { idp: { name: "forge" }, config: { client_id: "a", client_secret: "b" } };
    const idp_id = idOf(await peer.post("/idps/forge_a", idp));
    const project_id = await newProject(all);
    await takeAway(
      all,
      many,
      id,
      ["DELETE", `/users/${id}`],
      [
        ["PUT", `/users/${id}/metadata/colour`, { value: "cmVk" }],
        ["POST", "/sessions", { checks: { user: { user_id: id } } }],
        ["POST", "/memberships", { user_id: id, roles: ["IAM_ORG_MANAGER"] }],
        ["POST", "/user_grants", { user_id: id, project_id }],
        ["POST", `/users/${id}/idps`, { link: { idp_id, user_id: uniqueName("there") } }],
        ["POST", `/users/${id}/otp_email`, { address: "a@example.com", is_verified: true }],
        ["POST", `/users/${id}/recovery_codes`],
        [
          "POST",
          "/sessions",
          { checks: { user: { user_id: id }, password: { password: "wrong" } } },
        ],
      ],
    );
    bodyOf(await peer.remove(`/idps/${idp_id}`));
  },

  async "an organization"(all, many) {
    const { peer } = all;
    const id = await peer.addOrganization();
    const ctx = `?ctx.org_id=${id}`;
    const [user_id, own] = [await peer.addPerson({}, id), await newProject(all, ctx)];
    const [elsewhere, other] = [await newProject(all), await peer.addPerson()];
    const idp = { idp: { name: "forge" }, config: { client_id: "a", client_secret: "b" } };
    await takeAway(
      all,
      many,
      id,
      ["DELETE", `/organizations/${id}`],
      [
        ["POST", `/users${ctx}`, newMachine()],
        ["POST", `/projects${ctx}`, { name: "late" }],
        ["POST", "/apps", { name: "late", project_id: own, oidc }],
        ["POST", `/domains${ctx}`, { name: `${uniqueName("late").replaceAll(" ", "-")}.example` }],
        ["POST", "/memberships", { ctx: { org_id: id }, user_id: other, roles: ["ORG_OWNER"] }],
        ["POST", "/project_grants", { project_id: elsewhere, granted_organization_id: id }],
        ["POST", "/user_grants", { user_id: other, project_id: own }],
        ["POST", "/user_grants", { user_id, project_id: elsewhere }],
        ["POST", `/idps/forge_a${ctx}`, idp],
        ["POST", "/sessions", { checks: { user: { user_id } } }],
        ["PUT", `/users/${user_id}/metadata/colour`, { value: "cmVk" }],
      ],
    );
    for (const each of [user_id, own]) assert.deepEqual(await all.namedBy(each), []);
  },

  async "a provider"(all, many) {
    const { peer } = all;
    const idp = { idp: { name: "forge" }, config: { client_id: "a", client_secret: "b" } };
    const idp_id = idOf(await peer.post("/idps/forge_a", idp));
    const people: string[] = [];
    for (let nr = 0; nr < many; nr++) people.push(await peer.addPerson());
    const links = people.map(
      (user): Wanted => ["POST", `/users/${user}/idps`, { link: { idp_id, user_id: user } }],
    );
    await takeAway(all, many, idp_id, ["DELETE", `/idps/${idp_id}`], links);
  },

  async "a target"(all, many) {
    const { peer } = all;
    const made = await peer.post("/targets", {
      name: uniqueName("going"),
      rest_webhook: { url: "https://example.com" },
    });
    const id = idOf(made);
    const puts = Array.from(
      { length: many },
      (_, at): Wanted => [
        ...(["POST", "/executions"] as const),
        { condition: { event: { event: events[at % events.length] ?? "" } }, targets: [id] },
      ],
    );
    await takeAway(all, many, id, ["DELETE", `/targets/${id}`], puts);
  },

  async "a schema of users"(all, many) {
    const schema = { type: "object", properties: { name: { type: "string", maxLength: 200 } } };
    const id = idOf(await all.peer.post("/user_schemas", { type: uniqueName("going"), schema }));
    bodyOf(await all.peer.post(`/user_schemas/${id}/_deactivate`));
    bodyOf(await all.peer.post(`/user_schemas/${id}/_reactivate`));
    const add = () =>
      all.call("POST", "/users", { username: uniqueName("going"), schema_id: id, data: {} });
    const answers = await together([
      all.call("DELETE", `/user_schemas/${id}`),
      ...Array.from({ length: many }, add),
    ]);
    judge(answers, "USER_SCHEMA_NOT_FOUND", "USER_SCHEMA_IN_USE", "USER_SCHEMA_UNKNOWN");
    const [removed] = answers;
    const left = await all.namedBy(id);
    if (removed && removed.status < 300) assert.deepEqual(left, [], answers.map(told).join());
  },
};
