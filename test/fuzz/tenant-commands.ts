import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import type { OidcPeer } from "../support/oidc.ts";
import type { RestAnswer } from "../support/protocols.ts";
import { removalsEnd } from "../support/removals.ts";
import { type Kind, type TenantModel, type Thing, type Wanted } from "./tenant-model.ts";
import { searchCommand } from "./tenant-search.ts";

/** The service that a script speaks to, under names that no other script has. */
export type Real = { peer: OidcPeer; prefix: string };
export type Command = fc.AsyncCommand<TenantModel, Real>;

const memberRoles: Readonly<Partial<Record<Kind, string[]>>> = {
  organizations: ["ORG_OWNER", "ORG_OWNER_VIEWER"],
  projects: ["PROJECT_OWNER", "PROJECT_OWNER_VIEWER"],
  project_grants: ["PROJECT_GRANT_OWNER", "PROJECT_GRANT_OWNER_VIEWER"],
};
const texts = ["a", "A", "b", "ß", "SS"];
const place = fc.nat({ max: 3 });
const text = fc.constantFrom(...texts);
const keys = fc.subarray(texts, { maxLength: 2 });

const nth = (things: Thing[], at: number): Thing | undefined => things[at % things.length];
const command = (
  told: string,
  check: (model: TenantModel) => boolean,
  run: Command["run"],
): Command => ({ check, run, toString: () => told });

type Drawn = { text: string; at: number[]; keys: string[]; byGrant: boolean };

/** What a create refers to; undefined where nothing of that kind was ever made. */
function wantedOf(model: TenantModel, kind: Kind, { text: name, at, keys: named, byGrant }: Drawn) {
  const find = (of: Kind, which: number) => nth(model.of(of), at[which] ?? 0);
  const [organization, project] = [find("organizations", 0), find("projects", 1)];
  const [user, grant] = [find("users", 2), find("project_grants", 3)];
  const base: Wanted = { kind, text: name, roles: [] };
  switch (kind) {
    case "organizations":
      return base;
    case "projects":
    case "users":
      return organization && { ...base, organization };
    case "project_roles":
      return project && { ...base, project };
    case "project_grants":
      return project && organization && { ...base, project, organization, roles: named };
    case "user_grants": {
      const granted = { ...base, roles: named };
      if (!byGrant) return project && user && { ...granted, project, user };
      return project && user && grant && { ...granted, project, user, grant };
    }
    case "memberships": {
      const context = [organization, project, grant][(at[3] ?? 0) % 3];
      const roles = memberRoles[context?.kind ?? kind]?.slice(byGrant ? 1 : 0);
      return context && user && roles && { ...base, context, user, roles };
    }
  }
}

function createCall({ prefix }: Real, wanted: Wanted): [string, JsonObject] {
  const { kind, organization, project, grant, user, context, roles } = wanted;
  const name = kind === "project_roles" ? wanted.text : `${prefix}${wanted.text}`;
  switch (kind) {
    case "organizations":
      return ["", { name }];
    case "projects":
      return [`?ctx.org_id=${organization?.id}`, { name }];
    case "users": {
      const machine = { username: name, schema_id: "machine", data: { name: "Robot" } };
      return [`?ctx.org_id=${organization?.id}`, machine];
    }
    case "project_roles":
      return ["", { project_id: project?.id ?? "", key: name }];
    case "project_grants": {
      const to = { granted_organization_id: organization?.id ?? "" };
      return ["", { project_id: project?.id ?? "", ...to, role_keys: roles }];
    }
    case "user_grants": {
      const by = grant === undefined ? {} : { project_grant_id: grant.id };
      return [
        "",
        { user_id: user?.id ?? "", project_id: project?.id ?? "", ...by, role_keys: roles },
      ];
    }
    case "memberships": {
      const members = { organizations: "org_id", projects: "project_id" } as const;
      const member = Reflect.get(members, context?.kind ?? "") ?? "project_grant_id";
      return ["", { ctx: { [member]: context?.id ?? "" }, user_id: user?.id ?? "", roles }];
    }
  }
}

/** Makes a call and holds it to what the model says; a refused one leaves no event behind. */
async function expect(
  { peer }: Real,
  refused: string | undefined,
  call: () => Promise<RestAnswer>,
): Promise<JsonValue> {
  const before = refused === undefined ? 0 : await peer.eventCount();
  const { status, refusal, json } = await call();
  const told = refusal?.reason ?? (status < 300 ? undefined : `status ${status}`);
  assert.equal(told, refused, `the model says ${refused ?? "success"}: ${refusal?.message}`);
  if (refused !== undefined) assert.equal(await peer.eventCount(), before, "a refusal wrote");
  return json;
}

const createOf = (kind: Kind, drawn: Drawn) =>
  command(
    `create ${kind} ${drawn.text} ${drawn.at.join()} ${drawn.keys.join()}${drawn.byGrant ? " by grant" : ""}`,
    (model) => wantedOf(model, kind, drawn) !== undefined,
    async (model, real) => {
      const wanted = wantedOf(model, kind, drawn);
      assert.ok(wanted);
      const [query, body] = createCall(real, wanted);
      const refused = model.refuseCreate(wanted);
      const made = await expect(real, refused, () => real.peer.post(`/${kind}${query}`, body));
      if (refused !== undefined) return;
      const id = String(Object(made).details.id);
      model.things.push({ ...wanted, id, isAlive: true, isActive: true });
    },
  );

const create = (kind: Kind) =>
  fc
    .record({ text, at: fc.tuple(place, place, place, place), keys, byGrant: fc.boolean() })
    .map((drawn) => createOf(kind, drawn));

const first = { text: "a", at: [0, 0, 0, 0], keys: [], byGrant: false };
/** What most scripts begin with, or they would seldom come as far as a grant: one of each kind, with roles to lose. */
export const tenantWorld: readonly Command[] = [
  createOf("organizations", first),
  createOf("organizations", { ...first, text: "b" }),
  createOf("projects", first),
  createOf("users", first),
  createOf("project_roles", first),
  createOf("project_roles", { ...first, text: "b" }),
  createOf("project_grants", { ...first, at: [1, 0, 0, 0], keys: ["a", "b"] }),
  createOf("user_grants", { ...first, keys: ["a"] }),
  createOf("user_grants", { ...first, keys: ["a", "b"], byGrant: true }),
  createOf("memberships", { ...first, at: [0, 0, 0, 2] }),
];

const onOne = (
  told: string,
  kind: Kind,
  at: number,
  run: (thing: Thing, model: TenantModel, real: Real) => Promise<void>,
) =>
  command(
    `${told} ${kind} ${at}`,
    (model) => model.of(kind).length > 0,
    async (model, real) => {
      const thing = nth(model.of(kind), at);
      assert.ok(thing);
      await run(thing, model, real);
    },
  );

const named: Readonly<Partial<Record<Kind, string>>> = {
  organizations: "name",
  projects: "name",
  users: "username",
};

const patch = (kind: Kind) =>
  fc.tuple(place, text, keys).map(([at, name, given]) =>
    onOne(`patch to ${name} ${given.join()}`, kind, at, async (thing, model, real) => {
      const member = named[kind];
      const members = memberRoles[thing.context?.kind ?? kind]?.slice(name === "a" ? 1 : 0) ?? [];
      const roles = member !== undefined ? [] : kind === "memberships" ? members : given;
      const body: JsonObject =
        member !== undefined
          ? { [member]: `${real.prefix}${name}` }
          : kind === "memberships"
            ? { roles }
            : { role_keys: roles };
      const changed = { text: member === undefined ? thing.text : name, roles };
      const refused = model.refusePatch(thing, changed);
      await expect(real, refused, () => real.peer.patch(`/${kind}/${thing.id}`, body));
      if (refused === undefined) model.patch(thing, changed);
    }),
  );

const setState = (kind: Kind) =>
  fc.tuple(place, fc.boolean()).map(([at, isActive]) => {
    const verb = isActive ? "activate" : "deactivate";
    return onOne(verb, kind, at, async (thing, model, real) => {
      const refused = model.refuseState(thing, isActive);
      await expect(real, refused, () => real.peer.post(`/${kind}/${thing.id}/_${verb}`));
      if (refused === undefined) thing.isActive = isActive;
    });
  });

const remove = (kind: Kind) =>
  place.map((at) =>
    onOne("delete", kind, at, async (thing, model, real) => {
      const refused = model.refuseDelete(thing);
      await expect(real, refused, () => real.peer.remove(`/${kind}/${thing.id}`));
      if (refused !== undefined) return;
      model.remove(thing);
      const gone = await real.peer.get(`/${kind}/${thing.id}`);
      assert.equal(gone.refusal?.reason, model.refuseDelete(thing));
      // What an organization leaves behind is removed by a job.
      if (kind === "organizations") await removalsEnd(real.peer.app.kernel.db, 10_000);
    }),
  );

const withState: readonly Kind[] = [
  "organizations",
  "projects",
  "users",
  "project_grants",
  "user_grants",
];
const all: readonly Kind[] = [...withState, "project_roles", "memberships"];
const patched = all.filter((kind) => kind !== "project_roles");

/** Steps of a script: more of what makes than of what ends. */
export const tenantCommands = [
  ...all.map(create),
  ...all.map(create),
  ...patched.map(patch),
  ...withState.map(setState),
  ...all.map(remove),
  searchCommand,
  searchCommand,
  searchCommand,
];
