import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { beside } from "../support/beside.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { type Contestants, judge, judgeOne, told, together } from "./race-contestants.ts";
import type { Race } from "./races.ts";

const webhook = { rest_webhook: { url: "https://example.com/race" } };
const nth = (many: number) => Array.from({ length: many }, (_, at) => at);
const idOf = (answer: Parameters<typeof bodyOf>[0]): string =>
  String(bodyOf(answer, 201).details.id);
/** Spellings of one name. */
const spelled = (name: string, at: number) => (at % 2 === 0 ? name : name.toUpperCase());

type Named = { path: string; body(name: string, at: number): JsonObject; taken: string };
const named: readonly Named[] = [
  {
    path: "/organizations",
    body: (name, at) => ({ name: spelled(name, at) }),
    taken: "ORGANIZATION_NAME_TAKEN",
  },
  {
    path: "/users",
    body: (name, at) => ({ username: spelled(name, at), data: { given_name: "Ada" } }),
    taken: "USERNAME_TAKEN",
  },
  {
    path: "/targets",
    body: (name, at) => ({ name: spelled(name, at), ...webhook }),
    taken: "TARGET_NAME_TAKEN",
  },
];

const newProject = async ({ peer }: Contestants) =>
  idOf(await peer.post("/projects", { name: uniqueName("raced") }));

/** Of what may be there once, one is there; and nobody takes the last of what must be there. */
export const oneRaces: Readonly<Record<string, Race>> = {
  ...Object.fromEntries(
    named.map(({ path, body, taken }): [string, Race] => [
      `a name: ${taken}`,
      async (all, many) => {
        const name = uniqueName("raced");
        const calls = nth(many).map((at) => all.call("POST", path, body(name, at)));
        judgeOne(await together(calls), taken);
      },
    ]),
  ),

  async "a domain that several prove"(all, many) {
    const name = `${uniqueName("raced").replaceAll(" ", "-")}.example`;
    const ids: string[] = [];
    const tokens: string[] = [];
    for (const _ of nth(many)) {
      const home = idOf(await all.peer.post("/organizations", { name: uniqueName("raced") }));
      const domain = { name, validation_type: "DOMAIN_VALIDATION_TYPE_DNS" };
      const { details, validation } = bodyOf(
        await all.peer.post(`/domains?ctx.org_id=${home}`, domain),
        201,
      );
      ids.push(String(details.id));
      tokens.push(String(validation.token));
    }
    all.records.set(`_idsvc-challenge.${name}`, tokens);
    const calls = ids.map((id) => all.call("POST", `/domains/${id}/_validate`));
    judgeOne(await together(calls), "ORGANIZATION_DOMAIN_TAKEN");
  },

  async "names whose domains are alike"(all, many) {
    const name = uniqueName("alike");
    const wanted = nth(many).map((at) => name.replaceAll(" ", " ".repeat(at + 1)));
    const answers = await together(
      wanted.map((each) => all.call("POST", "/organizations", { name: each })),
    );
    assert.deepEqual(
      answers.map(told),
      answers.map(() => "201"),
    );
  },

  async "the key of a role, a project grant, a membership"(all, many) {
    const project_id = await newProject(all);
    const granted_organization_id = await all.peer.addOrganization();
    const user_id = await all.peer.addPerson();
    const calls: [string, JsonObject, string][] = [
      ["/project_roles", { project_id, key: "raced" }, "ROLE_KEY_TAKEN"],
      ["/project_grants", { project_id, granted_organization_id }, "PROJECT_GRANT_EXISTS"],
      [
        "/memberships",
        { ctx: { project_id }, user_id, roles: ["PROJECT_OWNER"] },
        "MEMBERSHIP_EXISTS",
      ],
      ["/user_grants", { user_id, project_id }, "USER_GRANT_EXISTS"],
    ];
    for (const [path, body, taken] of calls) {
      judgeOne(await together(nth(many).map(() => all.call("POST", path, body))), taken);
    }
  },

  async "versions of an object"(all, many) {
    const id = await newProject(all);
    const name = uniqueName("version");
    const calls = nth(many).map((at) =>
      all.call("PATCH", `/projects/${id}`, { name: `${name} ${at}` }),
    );
    const changed = judge(await together(calls));
    const {
      deps,
      at: { instanceId },
    } = all.peer;
    const log = await deps.events.read({ instanceId, aggregate: { type: "project", id } });
    assert.deepEqual(
      log.map(({ aggregateVersion }) => Number(aggregateVersion)),
      nth(changed + 1).map((at) => at + 1),
    );
  },

  async "the active web key"(all, many) {
    const { peer } = all;
    const made: string[] = [];
    for (const _ of nth(Math.min(many, 4)))
      made.push(idOf(await peer.post("/web_keys", { ed25519: {} })));
    const calls = made.map((id) => all.call("POST", `/web_keys/${id}/_activate`));
    judge(await together(calls));
    const { web_keys: keys } = bodyOf(await peer.get("/web_keys"));
    const active = keys.filter(({ state }: JsonObject) => state === "WEB_KEY_STATE_ACTIVE");
    assert.equal(active.length, 1, "there is one active key");
    for (const { details } of keys) {
      if (details.id !== active[0].details.id) bodyOf(await peer.remove(`/web_keys/${details.id}`));
    }
  },

  async "the active provider of mails"(all, many) {
    const { peer } = all;
    const provider = (description: string) => ({
      http: { url: "https://example.com" },
      description,
    });
    const made: string[] = [];
    for (const at of nth(many))
      made.push(idOf(await peer.post("/smtp_providers", provider(`p ${at}`))));
    const calls = made.map((id, at) =>
      at % 3 === 2
        ? all.call("POST", "/smtp_providers", provider("another"))
        : all.call("POST", `/smtp_providers/${id}/_activate`),
    );
    judge(await together(calls), "SMTP_PROVIDER_ACTIVE_ALREADY");
    const { result } = bodyOf(await peer.post("/smtp_providers/_search?query.limit=1000"));
    const active = result.filter(({ state }: JsonObject) => state === "EFFECTIVE_STATE_ACTIVE");
    assert.equal(active.length, 1, "there is one active provider");
    for (const { details } of result) bodyOf(await peer.remove(`/smtp_providers/${details.id}`));
  },

  async "the last owner of an instance"(all, many) {
    const wanted = {
      name: uniqueName("raced"),
      domain: `${uniqueName("raced").replaceAll(" ", "-")}.example`,
      organization: { name: "First" },
      machine: { username: "owner", name: "Owner" },
    };
    const made = bodyOf(
      await all.call("POST", "/instances", wanted, { token: all.system })(0),
      201,
    );
    const at = { token: String(made.personal_access_token), host: String(made.domain) };
    for (const nr of nth(many - 1)) {
      const user = { username: `owner ${nr}`, schema_id: "machine", data: { name: "Robot" } };
      const user_id = idOf(await all.call("POST", "/users", user, at)(nr));
      idOf(await all.call("POST", "/memberships", { user_id, roles: ["IAM_OWNER"] }, at)(nr));
    }
    const search = () =>
      all.call("POST", "/memberships/_search", [{ role: { role: "IAM_OWNER" } }], at)(0);
    const { result } = bodyOf(await search());
    const calls = result.map(({ details }: { details: { id: string } }, nr: number) =>
      nr % 2 === 0
        ? all.call("DELETE", `/memberships/${details.id}`, undefined, at)
        : all.call("PATCH", `/memberships/${details.id}`, { roles: ["IAM_ORG_MANAGER"] }, at),
    );
    const answers = await together<Awaited<ReturnType<typeof search>>>(calls);
    // Who has lost the role meanwhile may do nothing more.
    judge(answers, "LAST_OWNER", "PERMISSION_MISSING", "MEMBERSHIP_NOT_FOUND");
    const owners = `SELECT count(*) FROM memberships WHERE instance_id = '${made.details.id}'
      AND context_type = 'instance' AND CAST(roles AS text) LIKE '%"IAM_OWNER"%'`;
    const [[left]] = (await beside(all.peer.app.kernel, owners)).rows as [[number]];
    assert.equal(Number(left), 1, answers.map(told).join());
    await all.call("DELETE", `/instances/${made.details.id}`, undefined, { token: all.system })(0);
  },
};
