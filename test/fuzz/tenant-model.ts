/** The kinds of objects of a tenant; each stands below those before it. */
export const kinds = [
  "organizations",
  "projects",
  "project_roles",
  "users",
  "project_grants",
  "user_grants",
  "memberships",
] as const;
export type Kind = (typeof kinds)[number];

/** What is known of one object: its text (a name or a key), what it refers to by place in the model, and its roles. */
export type Thing = {
  kind: Kind;
  id: string;
  isAlive: boolean;
  isActive: boolean;
  text: string;
  roles: string[];
  organization?: Thing;
  project?: Thing;
  grant?: Thing;
  user?: Thing;
  /** What a membership counts in. */
  context?: Thing;
};
export type Wanted = Omit<Thing, "id" | "isAlive" | "isActive">;

/** A patch of these names at least one role. */
const withRoles: readonly Kind[] = ["project_grants", "user_grants", "memberships"];

const nouns: Readonly<Record<Kind, string>> = {
  organizations: "ORGANIZATION",
  projects: "PROJECT",
  project_roles: "ROLE",
  users: "USER",
  project_grants: "PROJECT_GRANT",
  user_grants: "USER_GRANT",
  memberships: "MEMBERSHIP",
};
const takenReasons: Readonly<Partial<Record<Kind, string>>> = {
  organizations: "ORGANIZATION_NAME_TAKEN",
  project_roles: "ROLE_KEY_TAKEN",
  users: "USERNAME_TAKEN",
  project_grants: "PROJECT_GRANT_EXISTS",
  user_grants: "USER_GRANT_EXISTS",
  memberships: "MEMBERSHIP_EXISTS",
};

/** All that a script has made, dead or alive, in the order it was made. Each rule gives the reason of a refusal, or none. */
export class TenantModel {
  things: Thing[] = [];

  of(kind: Kind): Thing[] {
    return this.things.filter((each) => each.kind === kind);
  }

  refuseCreate(wanted: Wanted): string | undefined {
    const { kind, organization, project, grant, user, context } = wanted;
    if (kind === "users" || kind === "projects") {
      if (organization?.isAlive !== true) return "ORGANIZATION_NOT_FOUND";
    }
    if (context?.isAlive === false) return missing(context.kind);
    if (["project_roles", "project_grants", "user_grants"].includes(kind)) {
      if (project?.isAlive !== true) return "PROJECT_NOT_FOUND";
    }
    if (kind === "project_grants" && organization?.isAlive !== true)
      return "ORGANIZATION_NOT_FOUND";
    if (grant !== undefined && !(grant.isAlive && grant.project === project)) {
      return "PROJECT_GRANT_NOT_FOUND";
    }
    if (user?.isAlive === false) return "USER_NOT_FOUND";
    return this.refuseRoles(wanted, wanted.roles) ?? this.refuseTwin(wanted);
  }

  refusePatch(thing: Thing, { text, roles }: Pick<Thing, "text" | "roles">): string | undefined {
    if (withRoles.includes(thing.kind) && roles.length === 0) return "VALIDATION_FAILED";
    if (!thing.isAlive) return missing(thing.kind);
    const given = roles.filter((each) => !thing.roles.includes(each));
    return this.refuseRoles(thing, given) ?? this.refuseTwin({ ...thing, text }, thing);
  }

  refuseState({ kind, isAlive, isActive }: Thing, wanted: boolean): string | undefined {
    if (!isAlive) return missing(kind);
    if (isActive !== wanted) return undefined;
    if (kind === "users" && wanted) return "USER_NOT_INACTIVE";
    return `${nouns[kind]}_${wanted ? "ACTIVE" : "INACTIVE"}`;
  }

  refuseDelete({ kind, isAlive }: Thing): string | undefined {
    return isAlive ? undefined : missing(kind);
  }

  patch(thing: Thing, { text, roles }: Pick<Thing, "text" | "roles">): void {
    thing.text = text;
    if (!withRoles.includes(thing.kind)) return;
    const lost = thing.roles.filter((each) => !roles.includes(each));
    thing.roles = roles;
    if (thing.kind !== "project_grants") return;
    for (const each of this.things) if (each.grant === thing) take(each, lost);
  }

  /** Takes away an object and all that cannot be without it. */
  remove(thing: Thing): void {
    if (!thing.isAlive) return;
    thing.isAlive = false;
    for (const each of this.things) {
      const { organization, project, grant, user, context } = each;
      if ([organization, project, grant, user, context].includes(thing)) this.remove(each);
      if (thing.kind === "project_roles" && project === thing.project) take(each, [thing.text]);
    }
  }

  private refuseRoles({ kind, project, grant }: Wanted, roles: string[]): string | undefined {
    if (kind !== "project_grants" && kind !== "user_grants") return undefined;
    const known =
      grant?.roles ??
      this.of("project_roles")
        .filter((each) => each.isAlive && each.project === project)
        .map(({ text }) => text);
    return roles.every((each) => known.includes(each)) ? undefined : "ROLE_KEY_UNKNOWN";
  }

  private refuseTwin(wanted: Wanted, self?: Thing): string | undefined {
    const key = uniqueKey(wanted);
    const twin = this.of(wanted.kind).find(
      (each) => each !== self && each.isAlive && sameAll(uniqueKey(each), key),
    );
    return twin === undefined || key.length === 0 ? undefined : takenReasons[wanted.kind];
  }
}

const missing = (kind: Kind) => `${nouns[kind]}_NOT_FOUND`;

// Roles of grants only: those of members are of the service.
function take(thing: Thing, lost: string[]): void {
  if (thing.kind !== "project_grants" && thing.kind !== "user_grants") return;
  thing.roles = thing.roles.filter((each) => !lost.includes(each));
}

function uniqueKey({ kind, text, organization, project, grant, user, context }: Wanted): unknown[] {
  switch (kind) {
    case "organizations":
      return [folded(text)];
    case "users":
      return [organization, folded(text)];
    case "project_roles":
      return [project, folded(text)];
    case "project_grants":
      return [project, organization];
    case "user_grants":
      return [user, project, grant];
    case "memberships":
      return [context, user];
    default:
      return [];
  }
}

const sameAll = (a: unknown[], b: unknown[]) => a.every((each, at) => each === b[at]);

/** Spellings that are one name: written without the folding of the service. */
export const folded = (text: string): string => text.toLowerCase().replaceAll("ß", "ss");
