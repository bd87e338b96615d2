import { type Parameters, words } from "../form.ts";
import type { AuthorizationRequest } from "../ports.ts";
import { refuse } from "./refusal.ts";

const most = 100;
// scope-token of RFC 6749 section 3.3.
const token = /^[\x21\x23-\x5b\x5d-\x7e]{1,500}$/;
const byId = "urn:idsvc:iam:org:id:";
const byDomain = "urn:idsvc:iam:org:domain:primary:";

/** @throws invalid_scope without `openid`, for what is no scope, and for more than 100 */
export function scopeOf(parameters: Parameters): string[] {
  const scope = words(parameters.get("scope"));
  if (!scope.includes("openid")) throw refuse("invalid_scope", "the scope must include openid");
  if (scope.length > most) throw refuse("invalid_scope", `the scope has more than ${most} words`);
  if (scope.some((word) => !token.test(word))) {
    throw refuse("invalid_scope", "the scope holds characters that no scope may have");
  }
  return scope;
}

/** The organization whose users alone may log in, where a scope says so (specification 11.6). */
export function organizationOf(scope: readonly string[]): AuthorizationRequest["organization"] {
  const one = scope.find((word) => word.startsWith(byId));
  if (one !== undefined) return { id: one.slice(byId.length) };
  const other = scope.find((word) => word.startsWith(byDomain));
  return other === undefined ? undefined : { primaryDomain: other.slice(byDomain.length) };
}
