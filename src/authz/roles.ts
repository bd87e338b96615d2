import { invalidField } from "../errors.ts";

// A permission ending in a run of r, w, d is short for read, write, delete: `iam.rw` is `iam.read` and `iam.write`.
const IAM = `iam.rw iam.policy.rwd iam.member.rwd iam.idp.rwd iam.action.rwd iam.flow.rwd iam.feature.rwd
  iam.restrictions.rw iam.web_key.rwd iam.debug.rw`;
const ORG = `org.read org.global.read org.write org.delete org.member.rwd org.idp.rwd org.action.rwd org.flow.rwd
  org.feature.rwd`;
const USER = `user.read user.global.read user.write user.delete user.grant.rwd user.membership.read
  user.credential.write user.passkey.write user.feature.rwd`;
const POLICY = "policy.rwd";
const PROJECT = `project.read project.create project.write project.delete project.member.rwd project.role.rwd
  project.app.rwd project.grant.rwd project.grant.member.rwd`;
const ACTION = "action.target.rwd action.execution.rwd execution.read";
const SCHEMA = "userschema.rwd";
const SESSION = "session.read session.write session.delete";
const IDP = "idp.rwd";

const ORG_READS =
  "org.read org.member.read org.idp.read org.action.read org.flow.read org.feature.read";
const USER_READS = readsOf(USER);
const PROJECT_READS = readsOf(PROJECT);
const PROJECT_GRANT_OWNER = `policy.read org.global.read project.read project.grant.read project.grant.member.rwd
  user.read user.global.read user.grant.rwd user.membership.read`;
const IAM_OWNER = `${IAM} ${ORG} org.create ${USER} ${POLICY} ${PROJECT} events.read milestones.read
  ${SESSION} ${ACTION} ${SCHEMA} ${IDP}`;
const ORG_USER_PERMISSION_EDITOR = `org.read org.member.read user.read user.global.read user.grant.rwd policy.read
  ${PROJECT_READS}`;

/**
 * The one table of roles (specification 11.9; the permissions that only the specification names by B4).
 * No other file knows which role may do what.
 */
const table = {
  SYSTEM_OWNER: `system.instance.rwd system.domain.rwd system.debug.rwd system.feature.rwd system.limits.wd
    system.quota.wd system.iam.member.rwd`,
  SYSTEM_OWNER_VIEWER: `system.instance.read system.domain.read system.debug.read system.feature.read
    system.iam.member.read`,

  IAM_OWNER,
  IAM_OWNER_VIEWER: without("org.global.read", readsOf(IAM_OWNER)),
  IAM_ORG_MANAGER: `${ORG} org.create ${USER} ${POLICY} ${PROJECT} session.read session.delete ${IDP}`,
  IAM_USER_MANAGER: `org.read org.global.read org.member.read org.member.delete user.rwd user.global.read
    user.grant.rwd user.membership.read user.passkey.write user.feature.rwd project.read project.member.read
    project.role.read project.app.read project.grant.rwd project.grant.member.read session.read session.delete`,
  IAM_ADMIN_IMPERSONATOR: "admin.impersonation impersonation",
  IAM_END_USER_IMPERSONATOR: "impersonation",
  IAM_LOGIN_CLIENT: `iam.read iam.policy.read iam.member.read iam.idp.read iam.feature.read iam.restrictions.read
    org.read org.member.read org.idp.read org.feature.read user.read user.grant.read user.membership.read
    user.feature.read policy.read ${PROJECT_READS} session.read session.write session.link session.delete
    userschema.read`,

  ORG_OWNER: `${ORG} ${USER} ${POLICY} ${without("project.app.delete", PROJECT)}
    session.read session.delete ${IDP}`,
  ORG_OWNER_VIEWER: `${ORG_READS} ${USER_READS} policy.read ${PROJECT_READS} project.grant.user.grant.read idp.read`,
  ORG_USER_MANAGER: `org.read user.rwd user.global.read user.grant.rwd user.membership.read user.feature.rwd
    policy.read project.read project.role.read session.read session.delete`,
  ORG_SETTINGS_MANAGER: `org.read org.write org.member.read org.idp.rwd org.feature.rwd policy.rwd ${IDP}`,
  ORG_USER_PERMISSION_EDITOR,
  ORG_PROJECT_PERMISSION_EDITOR: `${ORG_USER_PERMISSION_EDITOR} project.grant.rwd`,
  ORG_PROJECT_CREATOR: "user.global.read policy.read project.read:self project.create",
  ORG_ADMIN_IMPERSONATOR: "admin.impersonation impersonation",
  ORG_END_USER_IMPERSONATOR: "impersonation",
  ORG_USER_SELF_MANAGER: "policy.read user.self.delete",
  SELF_MANAGEMENT_GLOBAL: "org.create policy.read user.self.delete",

  PROJECT_OWNER: `org.global.read policy.read project.rwd project.member.rwd project.role.rwd project.app.rwd
    project.grant.rwd project.grant.member.rwd user.read user.global.read user.grant.rwd user.membership.read`,
  PROJECT_OWNER_VIEWER: `policy.read ${PROJECT_READS} user.read user.global.read user.grant.read
    user.membership.read`,
  PROJECT_OWNER_GLOBAL: `org.global.read policy.read project.rwd project.member.rwd project.role.rwd project.app.rwd
    user.global.read user.grant.rwd user.membership.read`,
  PROJECT_OWNER_VIEWER_GLOBAL: `policy.read ${PROJECT_READS} user.global.read user.grant.read user.membership.read`,

  PROJECT_GRANT_OWNER,
  PROJECT_GRANT_OWNER_VIEWER: readsOf(PROJECT_GRANT_OWNER),
};

export type Role = keyof typeof table;

/** Where a membership lives; each level has roles of its own. */
export type RoleContext = "system" | "instance" | "organization" | "project" | "projectGrant";

// Instance members apply in every organization, but only IAM_OWNER rules the instance's own identity providers (B4).
const insideOrganizationsOnly: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["IAM_ORG_MANAGER", new Set(expand(IDP))],
]);

const permissions: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(table).map(([role, list]) => [role, new Set(expand(list))]),
);
const onInstance: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [...permissions].map(([role, granted]) => [
    role,
    new Set([...granted].filter((one) => !insideOrganizationsOnly.get(role)?.has(one))),
  ]),
);
const nothing: ReadonlySet<string> = new Set();

/**
 * What an app needs to change how the user of its token logs in (J4a). No role gives it: everybody may do so to
 * their own account.
 */
export const ownCredentials = "user.self.credential";

/** Who may write users may write their own account. */
export const userWriting = "user.write";

/**
 * Permissions that let their holder give or take holds on users (option `holds`), or act as others: what a token has that
 * may act by them, and not on how users log in, is less than they give (J4a).
 */
export const holdGiving: ReadonlySet<string> = new Set(
  expand(`action.target.write action.execution.write user.write user.delete user.credential.write
    user.passkey.write idp.write idp.delete iam.write iam.idp.write org.write org.delete session.write session.delete
    session.link iam.web_key.write iam.web_key.delete impersonation admin.impersonation`),
);

/** Every permission that some role gives, and that of apps: a method that names another one can never be called. */
export const knownPermissions: ReadonlySet<string> = new Set([
  ...[...permissions.values()].flatMap((granted) => [...granted]),
  ownCredentials,
]);

/**
 * All a role gives, wherever its membership reaches. A name that is no role gives nothing.
 *
 * Answers "held anywhere that matters"; whether it counts for an object of the instance itself is
 * `permissionsOnInstance`.
 */
export function permissionsOf(role: string): ReadonlySet<string> {
  return permissions.get(role) ?? nothing;
}

/** What a role of an instance member gives on objects that the instance itself owns. */
export function permissionsOnInstance(role: string): ReadonlySet<string> {
  return onInstance.get(role) ?? nothing;
}

const belongsTo: Record<RoleContext, (role: string) => boolean> = {
  system: (role) => role.startsWith("SYSTEM_"),
  instance: (role) => role.startsWith("IAM_"),
  organization: (role) => role.startsWith("ORG_") || role.startsWith("SELF_MANAGEMENT_"),
  // The GLOBAL project roles are for a global organization, which no instance of this service has.
  project: (role) => /^PROJECT_(?!GRANT_)/.test(role) && !role.endsWith("_GLOBAL"),
  projectGrant: (role) => role.startsWith("PROJECT_GRANT_"),
};

/** The roles a membership in such a context may hold, in the order of the table (specification 11.9). */
export function rolesOf(context: RoleContext): string[] {
  return [...permissions.keys()].filter(belongsTo[context]);
}

/**
 * Refuses roles that a membership in this context cannot hold.
 *
 * @throws invalidArgument ROLE_UNKNOWN naming the first such role and the field it came in.
 */
export function requireRoles(context: RoleContext, roles: readonly string[], field: string): void {
  const available = rolesOf(context);
  const wrong = roles.find((role) => !available.includes(role));
  if (wrong === undefined) return;
  throw invalidField(
    field,
    "ROLE_UNKNOWN",
    `"${wrong}" is no role of this context; available are ${available.join(", ")}`,
    { metadata: { role: wrong } },
  );
}

const members: Record<RoleContext, string> = {
  system: "system.iam.member",
  instance: "iam.member",
  organization: "org.member",
  project: "project.member",
  projectGrant: "project.grant.member",
};

/** Who holds it on the instance can always repair its executions: they never keep them out (X10). */
export const executionWriter = "action.execution.write";

/**
 * Who holds it on the instance leads users through their log-ins: it acts for a user whose session it shows, registers
 * users where the login settings allow it, and finishes their accounts until they first log in (J2a).
 */
export const loginClient = "session.link";

/** What a login client may do to a user whom it registered, until that user's first log-in. */
export const registering: readonly string[] = ["user.write", "user.credential.write"];

/** Who holds it somewhere covers the user grants that are given there. */
export const userGranting = "user.grant.write";

/** The permission that guards the members of a kind of context. */
export const memberPermission = (context: RoleContext, verb: "read" | "write" | "delete"): string =>
  `${members[context]}.${verb}`;

/** The permission that guards the domains of an organization, or of the instance. */
export const domainPermission = (
  context: "instance" | "organization",
  verb: "read" | "write",
): string => `${{ instance: "iam", organization: "org" }[context]}.${verb}`;

/** Whoever holds such a role counts, for covering, as holding whatever a role of the context gives (decision 0087). */
const ownerOf: Record<RoleContext, Role> = {
  system: "SYSTEM_OWNER",
  instance: "IAM_OWNER",
  organization: "ORG_OWNER",
  project: "PROJECT_OWNER",
  projectGrant: "PROJECT_GRANT_OWNER",
};

const below: Record<RoleContext, readonly RoleContext[]> = {
  system: ["system"],
  instance: ["instance", "organization", "project", "projectGrant"],
  organization: ["organization", "project", "projectGrant"],
  project: ["project", "projectGrant"],
  projectGrant: ["projectGrant"],
};

const covered = new Map<RoleContext, ReadonlySet<string>>();

/**
 * What the owner of a context covers there: every permission that a role of it or of a context below it gives, except
 * `org.create`. It counts for covering others, never for acting.
 */
function coveredByOwner(context: RoleContext): ReadonlySet<string> {
  let all = covered.get(context);
  if (all === undefined) {
    const given = below[context].flatMap(rolesOf).flatMap((role) => [...permissionsOf(role)]);
    all = new Set(given.filter((permission) => permission !== "org.create"));
    covered.set(context, all);
  }
  return all;
}

/**
 * Permissions held in a context, and what is covered with them: whoever holds all that the owner of it, or of a kind of
 * context below it, acts with covers what that owner covers.
 */
export function withCoverOfOwner(context: RoleContext, granted: Iterable<string>): Set<string> {
  const all = new Set(granted);
  for (const each of below[context]) {
    if (!permissionsOf(ownerOf[each]).isSubsetOf(all)) continue;
    coveredByOwner(each).forEach((permission) => all.add(permission));
  }
  return all;
}

function expand(list: string): string[] {
  return list.trim().split(/\s+/).flatMap(expandOne);
}

function expandOne(permission: string): string[] {
  const [, base, letters] = /^(.+)\.([rwd]+)$/.exec(permission) ?? [];
  if (base === undefined || letters === undefined) return [permission];
  const verbs = { r: "read", w: "write", d: "delete" };
  return Object.entries(verbs)
    .filter(([letter]) => letters.includes(letter))
    .map(([, verb]) => `${base}.${verb}`);
}

function readsOf(list: string): string {
  return expand(list)
    .filter((permission) => permission.endsWith(".read"))
    .join(" ");
}

function without(permission: string, list: string): string {
  return expand(list)
    .filter((one) => one !== permission)
    .join(" ");
}

/** Who holds these acts for others in their organizations: for anybody, and for those who are members of anything. */
export const impersonation = {
  ofAnybody: "impersonation",
  ofAdministrators: "admin.impersonation",
} as const;

/** Who holds it where a user is may be told a code that would be sent to them: it stands for their credentials. */
export const credentialWriter = "user.credential.write";

/** Who holds it on the instance vouches for addresses in all of it. */
export const instanceWriter = "iam.write";

/** To read the log, and the sessions of users: either lets see where those were who stand in it (L4). */
export const eventReading = "events.read";
export const sessionReading = "session.read";
