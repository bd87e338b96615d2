import { type DomainError, permissionDenied } from "../errors.ts";
import {
  permissionsOf,
  permissionsOnInstance,
  type RoleContext,
  withCoverOfOwner,
} from "./roles.ts";

/** A membership as the check needs it: roles in one context. */
export type Membership = {
  contextType: RoleContext;
  contextId: string;
  /** The organization that a project belongs to, or that a project was granted to; the organization itself. */
  organizationId?: string;
  roles: readonly string[];
};

/** Where roles are held. Below the instance, the organization tells who owns the membership. */
export type MemberContext =
  | { type: "system" }
  | { type: "instance" }
  | { type: "organization"; organizationId: string }
  | { type: "project"; projectId: string; organizationId: string }
  | { type: "projectGrant"; grantId: string; projectId: string; organizationId: string };

/** The resource scope in which a permission is asked for. */
export type ResourceScope =
  | { type: "system" }
  | { type: "instance" }
  | { type: "organization"; id: string }
  | { type: "project"; id: string; organizationId: string }
  | { type: "projectGrant"; id: string; organizationId: string };

/** A resource scope below the instance. */
export type NarrowScope = Exclude<ResourceScope, { type: "system" | "instance" }>;

/** What a caller may do, and where (specification 11.10). */
export type Permissions = {
  /** Held in any context: whether the call can matter at all (B3). */
  holdsAnywhere(permission: string): boolean;
  holds(permission: string, resourceScope: ResourceScope): boolean;
  /** Where below the instance it is held: what a search may show. */
  reach(permission: string): Reach;
  /** The contexts below the instance in which anything may be held by a membership there; others have only what is held above. Some may come twice. */
  contexts(): readonly NarrowScope[];
  /** Whether an organization may be told to exist: there is a role in the instance, in it, or in something of its. */
  knows(organizationId: string): boolean;
  /** Whether everything that the membership gives is among what these permissions cover (decision 0087). */
  covers(membership: Membership): boolean;
};

/** The contexts below the instance in which a permission is held. `everywhere` includes what comes later. */
export type Reach = {
  everywhere: boolean;
  organizations: readonly string[];
  projects: readonly string[];
  projectGrants: readonly string[];
};

/** Reaches nothing. */
export const nowhere: Reach = {
  everywhere: false,
  organizations: [],
  projects: [],
  projectGrants: [],
};

export const noPermissions: Permissions = {
  holdsAnywhere: () => false,
  holds: () => false,
  reach: () => nowhere,
  contexts: () => [],
  knows: () => false,
  covers: ({ roles }) => roles.every((role) => permissionsOf(role).size === 0),
};

/**
 * Unites memberships. What an instance member holds, they hold in every organization of the instance; an organization's
 * member holds it there and in its projects.
 */
export function permissionsFrom(memberships: readonly Membership[]): Permissions {
  const anywhere = new Set<string>();
  const onInstance = new Set<string>();
  const belowInstance = new Set<string>();
  const system = new Set<string>();
  const byContext = new Map<string, Set<string>>();
  for (const { contextType, contextId, roles } of memberships) {
    for (const role of roles) {
      for (const permission of permissionsOf(role)) {
        anywhere.add(permission);
        if (contextType === "system") system.add(permission);
        else if (contextType === "instance") belowInstance.add(permission);
        else {
          const key = `${contextType}/${contextId}`;
          const granted = byContext.get(key) ?? new Set();
          byContext.set(key, granted.add(permission));
        }
      }
      if (contextType !== "instance") continue;
      for (const permission of permissionsOnInstance(role)) onInstance.add(permission);
    }
  }
  const inContext = (key: string, permission: string) =>
    byContext.get(key)?.has(permission) ?? false;
  let cover: Permissions["covers"] | undefined;
  return {
    holdsAnywhere: (permission) => anywhere.has(permission),
    holds(permission, resourceScope) {
      if (resourceScope.type === "system") return system.has(permission);
      if (resourceScope.type === "instance") return onInstance.has(permission);
      if (belowInstance.has(permission)) return true;
      if (resourceScope.type === "organization")
        return inContext(`organization/${resourceScope.id}`, permission);
      return (
        inContext(`organization/${resourceScope.organizationId}`, permission) ||
        inContext(`${resourceScope.type}/${resourceScope.id}`, permission)
      );
    },
    reach(permission) {
      const holding = (type: string) =>
        [...byContext]
          .filter(([key, granted]) => key.startsWith(`${type}/`) && granted.has(permission))
          .map(([key]) => key.slice(type.length + 1));
      return {
        everywhere: belowInstance.has(permission),
        organizations: holding("organization"),
        projects: holding("project"),
        projectGrants: holding("projectGrant"),
      };
    },
    contexts: () => narrowScopesOf(memberships),
    knows: (id) =>
      memberships.some(
        ({ contextType, contextId, organizationId }) =>
          contextType === "system" ||
          contextType === "instance" ||
          (organizationId ?? contextId) === id,
      ),
    covers: (membership) => (cover ??= coverFrom(memberships))(membership),
  };
}

function narrowScopesOf(memberships: readonly Membership[]): NarrowScope[] {
  const byName = new Map<string, NarrowScope>();
  for (const { contextType: type, contextId: id, organizationId = id } of memberships) {
    if (type === "system" || type === "instance") continue;
    byName.set(
      `${type}/${id}`,
      type === "organization" ? { type, id } : { type, id, organizationId },
    );
  }
  return [...byName.values()];
}

/**
 * What memberships cover in a resource scope: what they give there, and for whoever holds all that the owner of the scope
 * acts with, whatever the owner covers. So covering is transitive: who covers an owner covers all that the owner does.
 */
function coverFrom(memberships: readonly Membership[]): Permissions["covers"] {
  const onInstance = new Set<string>();
  const belowInstance = new Set<string>();
  const byContext = new Map<string, Set<string>>();
  for (const { contextType, contextId, roles } of memberships) {
    for (const role of roles) {
      if (contextType === "instance") {
        permissionsOnInstance(role).forEach((permission) => onInstance.add(permission));
        permissionsOf(role).forEach((permission) => belowInstance.add(permission));
        continue;
      }
      const key = `${contextType}/${contextId}`;
      const granted = byContext.get(key) ?? new Set();
      permissionsOf(role).forEach((permission) => granted.add(permission));
      byContext.set(key, granted);
    }
  }
  const coveredOnInstance = withCoverOfOwner("instance", onInstance);
  const coveredBelow = withCoverOfOwner("organization", [...belowInstance, ...coveredOnInstance]);

  const heldAt = (type: RoleContext, id: string | undefined) =>
    byContext.get(`${type}/${id}`) ?? [];

  /** What is covered in a resource scope below the instance, or of the system. */
  const coveredAt = ({ contextType, contextId, organizationId }: Membership): Set<string> => {
    const granted = heldAt(contextType, contextId);
    if (contextType === "system") return withCoverOfOwner(contextType, granted);
    const ofOrganization = heldAt("organization", organizationId);
    const inOrganization = withCoverOfOwner("organization", [...coveredBelow, ...ofOrganization]);
    return withCoverOfOwner(contextType, [...inOrganization, ...granted]);
  };

  // Asked for with every change that could act as anybody.
  const onInstanceByRole = new Map<string, boolean>();
  const coversOnInstance = (role: string): boolean => {
    let known = onInstanceByRole.get(role);
    if (known === undefined) {
      const ofInstance = permissionsOnInstance(role);
      known = [...permissionsOf(role)].every((permission) =>
        (ofInstance.has(permission) ? coveredOnInstance : coveredBelow).has(permission),
      );
      onInstanceByRole.set(role, known);
    }
    return known;
  };
  return (membership) => {
    if (membership.contextType === "instance") return membership.roles.every(coversOnInstance);
    const covered = coveredAt(membership);
    return membership.roles.every((role) => permissionsOf(role).isSubsetOf(covered));
  };
}

/** The same, and some more on the users of one organization. */
export const holdingAlso = (
  permissions: Permissions,
  more: readonly string[],
  organizationId: string,
): Permissions => ({
  holdsAnywhere: (permission) => more.includes(permission) || permissions.holdsAnywhere(permission),
  holds: (permission, resourceScope) =>
    (more.includes(permission) &&
      resourceScope.type === "organization" &&
      resourceScope.id === organizationId) ||
    permissions.holds(permission, resourceScope),
  reach: (permission) => permissions.reach(permission),
  contexts: () => [{ type: "organization", id: organizationId }, ...permissions.contexts()],
  knows: (id) => id === organizationId || permissions.knows(id),
  covers: (membership) => permissions.covers(membership),
});

/** What a caller meets who may know of an object, and lacks what they need to act on it. */
export const permissionMissing = (permission: string): DomainError =>
  permissionDenied("PERMISSION_MISSING", `the caller lacks the permission ${permission}`, {
    metadata: { permission },
  });
