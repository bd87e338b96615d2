import type { Awaitable } from "../../awaitable.ts";
import type { At, Client, ClaimsRequest, Ports, StandardClaims, User } from "./ports.ts";
import {
  domainScope,
  metadataScope,
  organizationScope,
  resourceOwnerScope,
  roleScope,
  rolesOfOrganizationScope,
  rolesScope,
  valuesOf,
} from "./scope.ts";

type Claims = Record<string, unknown>;
type Parts = Pick<Ports, "users">;

const own = "urn:idsvc:iam:";

/** Which claims a scope asks for (OpenID Connect Core 1.0 section 5.4). */
const ofScope: Record<string, readonly string[]> = {
  profile: [
    "name",
    "family_name",
    "given_name",
    "middle_name",
    "nickname",
    "preferred_username",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
    "updated_at",
  ],
  email: ["email", "email_verified"],
  phone: ["phone_number", "phone_number_verified"],
  address: ["address"],
};

/** Every claim of users that can be asked for by its name. */
export const standardClaimNames: readonly string[] = Object.values(ofScope).flat();

/** Whom and what for claims are told. */
export type Telling = {
  user: User;
  scope: readonly string[];
  /** The projects that the token is for. */
  projectIds: readonly string[];
  /** The organization of the app that is told: what only it vouches for is verified there alone. */
  organizationId: string | undefined;
  /** The project whose roles are meant where none is named. */
  projectId: string | undefined;
  /** Its roles are told unasked. */
  rolesAsserted: boolean;
};

/** What userinfo tells: the claims of the scope, and those that the request named. `sub` is not among them. */
export async function userClaims(
  { users }: Parts,
  at: At,
  telling: Telling,
  asked: ClaimsRequest["userinfo"],
): Promise<Claims> {
  const known = await users.claims(at, telling.user.id, telling.organizationId);
  return {
    ...chosen(known, telling.scope, asked),
    ...(await ownClaims({ users }, at, telling)),
  };
}

/** The claims of an ID token that are no part of the protocol. */
export async function idTokenClaims(
  { users }: Parts,
  at: At,
  telling: Telling,
  asked: ClaimsRequest["id_token"],
  withScope: boolean,
): Promise<Claims> {
  const scope = withScope ? telling.scope : [];
  const isAsked = asked !== undefined || scope.some((each) => each in ofScope);
  const known = isAsked ? await users.claims(at, telling.user.id, telling.organizationId) : {};
  return { ...chosen(known, scope, asked), ...(await ownClaims({ users }, at, telling)) };
}

function chosen(
  known: StandardClaims,
  scope: readonly string[],
  asked: Record<string, unknown> | undefined,
): Claims {
  const claims: Claims = {};
  const tell = (name: string): void => {
    if (Object.hasOwn(known, name)) claims[name] = known[name];
  };
  for (const each of scope) if (Object.hasOwn(ofScope, each)) ofScope[each]?.forEach(tell);
  for (const name in asked) if (standardClaimNames.includes(name)) tell(name);
  return claims;
}

/** The claims of the service's own (specification 11.7): only on request, absent rather than empty. */
export async function ownClaims({ users }: Parts, at: At, telling: Telling): Promise<Claims> {
  const { user, scope } = telling;
  const claims: Claims = await roleClaims({ users }, at, telling);
  if (scope.includes(metadataScope)) {
    const metadata = await users.metadata(at, user.id);
    if (Object.keys(metadata).length > 0) claims[`${own}user:metadata`] = metadata;
  }
  const domains = valuesOf(scope, domainScope);
  if (scope.includes(resourceOwnerScope) || domains.length > 0) {
    const { id, name, primaryDomain } = await users.organization(at, user.organizationId);
    if (scope.includes(resourceOwnerScope)) {
      claims[`${own}user:resourceowner:id`] = id;
      if (name !== "") claims[`${own}user:resourceowner:name`] = name;
      if (primaryDomain !== "") claims[`${own}user:resourceowner:primary_domain`] = primaryDomain;
    }
    // Only what is true is told, whatever was asked.
    if (domains.includes(primaryDomain)) claims[`${own}org:domain:primary`] = primaryDomain;
  }
  if (valuesOf(scope, organizationScope).includes(user.organizationId)) {
    claims[`${own}org:id`] = user.organizationId;
  }
  return claims;
}

function roleClaims(parts: Parts, at: At, telling: Telling): Awaitable<Claims> {
  const { scope, rolesAsserted } = telling;
  const keys = valuesOf(scope, roleScope);
  const asksAll = scope.includes(rolesScope);
  const isAsked = asksAll || rolesAsserted || keys.length > 0;
  return isAsked ? heldRoles(parts, at, telling, asksAll, keys) : {};
}

async function heldRoles(
  { users }: Parts,
  at: At,
  { user, scope, projectIds, projectId, rolesAsserted }: Telling,
  asksAll: boolean,
  keys: readonly string[],
): Promise<Claims> {
  const mine = projectId === undefined ? [] : [projectId];
  const projects = asksAll ? [...new Set([...mine, ...projectIds])] : mine;
  const organizations = valuesOf(scope, rolesOfOrganizationScope);
  const claims: Claims = {};
  const rolesByProject = await users.roles(at, user.id, projects);
  for (const [id, roles] of Object.entries(rolesByProject)) {
    const entries = Object.entries(roles).flatMap(([key, by]) => {
      if (!asksAll && !rolesAsserted && !keys.includes(key)) return [];
      const through = Object.entries(by).filter(
        ([organization]) => organizations.length === 0 || organizations.includes(organization),
      );
      return through.length === 0 ? [] : [[key, Object.fromEntries(through)] as const];
    });
    if (entries.length === 0) continue;
    claims[`${own}org:project:${id}:roles`] = Object.fromEntries(entries);
    if (id === projectId) claims[`${own}org:project:roles`] = Object.fromEntries(entries);
  }
  return claims;
}

/** What is told of a user to the client that a token was issued to. */
export const tellingTo = (
  client: Client | undefined,
  about: Pick<Telling, "user" | "scope" | "projectIds">,
  rolesAsserted: boolean,
): Telling => {
  const { user, scope, projectIds } = about;
  const { projectId, organizationId } = client ?? {};
  return { user, scope, projectIds, projectId, organizationId, rolesAsserted };
};
