import { permissionDenied } from "../errors.ts";
import type { Caller, TokenLimit } from "./context.ts";
import {
  type Membership,
  nowhere,
  type Permissions,
  permissionsFrom,
  type ResourceScope,
  type Reach,
} from "./permissions.ts";
import { holdGiving, ownCredentials, permissionsOf } from "./roles.ts";

const all = "*";

const isNamed = (names: readonly string[], permission: string): boolean =>
  names.includes(permission) || (names.includes(all) && permission !== ownCredentials);

/**
 * What memberships give to a call whose token carries only a part of them (J4). What is made by such a call is
 * judged by the same permissions, so it has at most this power.
 */
export function limitedPermissions(
  memberships: readonly Membership[],
  limit: TokenLimit,
): Permissions {
  const within = permissionsFrom(memberships.flatMap((one) => membershipsWithin(one, limit)));
  const { permissions: names, holds } = limit;
  const isCoverable = (permission: string): boolean =>
    isNamed(holdGiving.has(permission) ? holds : names, permission);
  return {
    holdsAnywhere: (permission) => isNamed(names, permission) && within.holdsAnywhere(permission),
    holds: (permission, resourceScope) =>
      isNamed(names, permission) && within.holds(permission, resourceScope),
    reach: (permission) => (isNamed(names, permission) ? within.reach(permission) : nowhere),
    contexts: within.contexts,
    knows: within.knows,
    // Whoever gets a role may also act on how users log in by it: only a token that may do so gives as much.
    covers: (membership) =>
      membership.roles.every((role) => [...permissionsOf(role)].every(isCoverable)) &&
      within.covers(membership),
  };
}

/** What of a membership counts where the limit lets it; that of the instance counts in each organization that is named. */
function membershipsWithin(membership: Membership, limit: TokenLimit): Membership[] {
  if (limit.instance) return [membership];
  const { contextType, organizationId, contextId, roles } = membership;
  if (contextType === "instance") {
    return limit.organizationIds.map((id) => ({
      contextType: "organization",
      contextId: id,
      organizationId: id,
      roles,
    }));
  }
  const home = contextType === "organization" ? contextId : organizationId;
  return home !== undefined && limit.organizationIds.includes(home) ? [membership] : [];
}

/** What two callers may both do: somebody who acts for another has no more than either. */
export const commonPermissions = (one: Permissions, other: Permissions): Permissions => ({
  holdsAnywhere: (permission) => one.holdsAnywhere(permission) && other.holdsAnywhere(permission),
  holds: (permission, resourceScope) =>
    one.holds(permission, resourceScope) && other.holds(permission, resourceScope),
  reach: (permission) => commonReach(one.reach(permission), other.reach(permission)),
  contexts: () => [...one.contexts(), ...other.contexts()],
  knows: (organizationId) => one.knows(organizationId) && other.knows(organizationId),
  covers: (membership) => one.covers(membership) && other.covers(membership),
});

function commonReach(one: Reach, other: Reach): Reach {
  if (one.everywhere) return other;
  if (other.everywhere) return one;
  const both = (kind: "organizations" | "projects" | "projectGrants") =>
    one[kind].filter((id) => other[kind].includes(id));
  return {
    everywhere: false,
    organizations: both("organizations"),
    projects: both("projects"),
    projectGrants: both("projectGrants"),
  };
}

/**
 * Whether a token may give or take a hold on a user for which the method asks this permission: only what the access of
 * its app names, where that access counts (J4a). `ownCredentials` asks for the account of the token's own user,
 * wherever that is.
 */
export function limitNames(
  limit: TokenLimit,
  permission: string,
  resourceScope: ResourceScope,
): boolean {
  if (!isNamed(limit.holds, permission)) return false;
  if (permission === ownCredentials || limit.instance) return true;
  if (resourceScope.type === "system" || resourceScope.type === "instance") return false;
  const organizationId =
    resourceScope.type === "organization" ? resourceScope.id : resourceScope.organizationId;
  return limit.organizationIds.includes(organizationId);
}

/**
 * Refuses a hold that the token of the call was not given (J4a).
 *
 * @throws PERMISSION_DENIED TOKEN_WITHOUT_HOLD
 */
export function requireNamedHold(
  limit: TokenLimit | undefined,
  permission: string,
  resourceScope: ResourceScope,
): void {
  if (limit === undefined || limitNames(limit, permission, resourceScope)) return;
  throw permissionDenied(
    "TOKEN_WITHOUT_HOLD",
    "tokens of this app may not act on how users log in: its api_access would have to name the permission",
    { metadata: { permission } },
  );
}

/** Whether what everybody may do to their own account is among what the token of the call may do. */
export const writesOwnAccount = (caller: Caller): boolean =>
  caller.kind === "user" && caller.limit?.ownAccount !== "read";
