import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { Command, Real } from "./tenant-commands.ts";
import { folded, type Kind, kinds, type TenantModel, type Thing } from "./tenant-model.ts";

const members: Readonly<Record<Kind, string>> = {
  organizations: "organization",
  projects: "project",
  project_roles: "role",
  users: "user",
  project_grants: "project_grant",
  user_grants: "user_grant",
  memberships: "membership",
};

type Filter = { json: JsonObject; keeps: (thing: Thing) => boolean };
type Asked = { kind: Kind; filter: string; text: string; method: number; at: number; page: Page };
type Page = { limit: number; offset: number; asc: boolean };

const methods: readonly [string, (whole: string, part: string) => boolean][] = [
  ["EQUALS", (whole, part) => whole === part],
  ["STARTS_WITH", (whole, part) => whole.startsWith(part)],
  ["CONTAINS", (whole, part) => whole.includes(part)],
  ["ENDS_WITH", (whole, part) => whole.endsWith(part)],
];

/** A filter of the kind that is drawn, where objects of this kind have it. */
function filterOf({ kind, filter, text, method, at }: Asked, model: TenantModel, { prefix }: Real) {
  const isNamed = ["organizations", "projects", "project_roles"].includes(kind);
  const hasState = !["project_roles", "memberships", "users"].includes(kind);
  const hasProject = ["project_roles", "project_grants", "user_grants"].includes(kind);
  const none: Filter = { json: {}, keeps: () => true };
  if (filter === "state" && hasState) {
    const wanted = method % 2 === 0;
    const state = `EFFECTIVE_STATE_${wanted ? "ACTIVE" : "INACTIVE"}`;
    return { json: { state: { state } }, keeps: ({ isActive }: Thing) => isActive === wanted };
  }
  if (filter === "text" && isNamed) {
    const [name, holds] = methods[method % 4] ?? ["EQUALS", () => false];
    const ignores = method >= 4;
    const before = kind === "project_roles" ? "" : prefix;
    const wanted = name === "ENDS_WITH" || name === "CONTAINS" ? text : `${before}${text}`;
    const given = {
      name: wanted,
      method: `TEXT_FILTER_METHOD_${name}${ignores ? "_IGNORE_CASE" : ""}`,
    };
    const as = (value: string) => (ignores ? folded(value) : value);
    const keeps = (thing: Thing) => holds(as(`${before}${thing.text}`), as(wanted));
    return { json: { [kind === "project_roles" ? "key" : "name"]: given }, keeps };
  }
  const projects = model.of("projects");
  const project = projects[at % projects.length];
  if (filter === "project" && hasProject && project !== undefined) {
    return { json: { project_id: project.id }, keeps: (thing: Thing) => thing.project === project };
  }
  if (filter === "role" && text !== "" && ["project_grants", "user_grants"].includes(kind)) {
    return { json: { role_key: text }, keeps: ({ roles }: Thing) => roles.includes(text) };
  }
  return none;
}

/** Searches one kind, and compares what is found, how often and in which order with the model. */
async function compare(asked: Asked, model: TenantModel, real: Real): Promise<void> {
  const { kind, page } = asked;
  const filter = filterOf(asked, model, real);
  const ids = model.of(kind).map(({ id }) => id);
  const kept = model.of(kind).filter((thing) => thing.isAlive && filter.keeps(thing));
  const query = `query.limit=${page.limit}&query.offset=${page.offset}&query.asc=${page.asc}`;
  const filters = [
    { in_ids: { ids } },
    ...(Object.keys(filter.json).length > 0 ? [filter.json] : []),
  ];
  const answer = await real.peer.post(`/${kind}/_search?${query}`, filters);
  assert.equal(answer.status, 200, answer.refusal?.message);
  const { details, result = [] } = Object(answer.json);
  const inOrder = page.asc ? kept : kept.toReversed();
  const expected = inOrder.slice(page.offset, page.offset + page.limit);
  const told = expected.map((thing) => toldOf(thing, real));
  assert.deepEqual(
    result.map((each: JsonObject) => read(kind, each)),
    told,
  );
  assert.equal(Number(details.total_result ?? 0), kept.length, "the total");
}

const toldOf = (thing: Thing, { prefix }: Real) => ({
  id: thing.id,
  text: ["organizations", "projects", "users"].includes(thing.kind)
    ? `${prefix}${thing.text}`
    : thing.kind === "project_roles"
      ? thing.text
      : "",
  roles: thing.roles.toSorted(),
  isActive: thing.isActive,
});

function read(kind: Kind, json: JsonObject) {
  const { details, state } = Object(json);
  const inner = Object(Object(json)[members[kind]]);
  return {
    id: details.id,
    text: inner.name ?? inner.username ?? inner.key ?? "",
    roles: Array.from<string>(inner.role_keys ?? inner.roles ?? []).toSorted(),
    isActive:
      kind === "project_roles" || kind === "memberships" || !String(state).endsWith("INACTIVE"),
  };
}

/** Everything that a script made is found as the model has it, and nothing that has gone. */
export async function compareAll(model: TenantModel, real: Real): Promise<void> {
  for (const kind of kinds) {
    const page = { limit: 1000, offset: 0, asc: true };
    await compare({ kind, filter: "", text: "", method: 0, at: 0, page }, model, real);
  }
}

export const searchCommand: fc.Arbitrary<Command> = fc
  .record({
    kind: fc.constantFrom(...kinds),
    filter: fc.constantFrom("", "state", "text", "project", "role"),
    text: fc.constantFrom("a", "A", "b", "ß", "ss", ""),
    method: fc.nat({ max: 7 }),
    at: fc.nat({ max: 3 }),
    page: fc.record({
      limit: fc.integer({ min: 1, max: 5 }),
      offset: fc.nat({ max: 2 }),
      asc: fc.boolean(),
    }),
  })
  .map((asked) => ({
    check: () => true,
    run: (model: TenantModel, real: Real) => compare(asked, model, real),
    toString: () => `search ${JSON.stringify(asked)}`,
  }));
