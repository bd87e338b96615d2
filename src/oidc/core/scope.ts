import { OAuthError } from "./errors.ts";
import { words } from "./form.ts";

/** The scopes of OpenID Connect Core 1.0 section 5.4 and section 11. */
export const standardScopes = [
  "openid",
  "profile",
  "email",
  "phone",
  "address",
  "offline_access",
] as const;

const own = "urn:idsvc:iam:";
const longest = 10_000;
const most = 100;
/** How much of a scope a refusal repeats. */
const shown = 100;
// RFC 6749 section 3.3.
const wellFormed = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** The service's own scopes (specification 11.6). Those with a value end in the colon before it. */
export const roleScope = `${own}org:project:role:`;
export const rolesScope = `${own}org:projects:roles`;
export const rolesOfOrganizationScope = `${own}org:roles:id:`;
export const organizationScope = `${own}org:id:`;
export const domainScope = `${own}org:domain:primary:`;
export const idpScope = `${own}org:idp:id:`;
export const metadataScope = `${own}user:metadata`;
export const resourceOwnerScope = `${own}user:resourceowner`;
const audiencePrefix = `${own}org:project:id:`;
const audienceEnd = ":aud";

const withoutValue: ReadonlySet<string> = new Set([
  ...standardScopes,
  rolesScope,
  metadataScope,
  resourceOwnerScope,
]);
const withValue = [
  roleScope,
  rolesOfOrganizationScope,
  organizationScope,
  domainScope,
  idpScope,
] as const;

/** The values of all scopes that begin so. */
export const valuesOf = (scope: readonly string[], prefix: (typeof withValue)[number]): string[] =>
  scope.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));

/** The projects that the scope asks tokens for: their ids, or `idsvc` for the service's own. */
export const projectsIn = (scope: readonly string[]): string[] =>
  scope.map(projectIn).filter((id) => id !== "");

/** The project that one word of a scope asks tokens for; empty where it asks for none. */
export const projectIn = (word: string): string =>
  word.startsWith(audiencePrefix) && word.endsWith(audienceEnd)
    ? word.slice(audiencePrefix.length, -audienceEnd.length)
    : "";

export const isKnownScope = (scope: string): boolean =>
  withoutValue.has(scope) ||
  withValue.some((prefix) => scope.length > prefix.length && scope.startsWith(prefix)) ||
  projectIn(scope) !== "";

/**
 * Reads a scope parameter of the token endpoint.
 * @throws OAuthError invalid_scope when it is malformed, too long (100 scopes, 10,000 characters) or holds an unknown one
 */
export function readScope(value: string): string[] {
  if (value.length > longest) throw invalidScope("the scope is too long");
  const asked = words(value);
  if (asked.length === 0) throw invalidScope("the scope is empty");
  if (asked.length > most) throw invalidScope(`the scope has more than ${most} values`);
  if (!asked.every((each) => wellFormed.test(each))) throw invalidScope("the scope is malformed");
  const unknown = asked.find((each) => !isKnownScope(each));
  if (unknown !== undefined) throw invalidScope(`the scope ${unknown.slice(0, shown)} is unknown`);
  return asked;
}

export const invalidScope = (description: string): OAuthError =>
  new OAuthError("invalid_scope", description);
