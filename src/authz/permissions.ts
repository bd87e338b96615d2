import { type DomainError, permissionDenied } from "../errors.ts";
import { permissionsOf, permissionsOnInstance } from "./roles.ts";

/** A membership as the check needs it: roles in one context. */
export type Membership = {
  contextType: "system" | "instance" | "organization" | "project" | "projectGrant";
  contextId: string;
  roles: readonly string[];
};

/** Where a permission is asked for. */
export type Place =
  | { type: "system" }
  | { type: "instance" }
  | { type: "organization"; id: string }
  | { type: "project"; id: string; organizationId: string }
  | { type: "projectGrant"; id: string; organizationId: string };

/** What a caller may do, and where (background 6.3). */
export type Permissions = {
  /** Held in any context: whether the call can matter at all (decisions B3). */
  holdsAnywhere(permission: string): boolean;
  holds(permission: string, place: Place): boolean;
  /** Where below the instance it is held: what a search may show. */
  reach(permission: string): Reach;
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
};

/**
 * Unites memberships. What an instance member holds, he holds in every organization of the instance; an organization's
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
          const held = byContext.get(key) ?? new Set();
          byContext.set(key, held.add(permission));
        }
      }
      if (contextType !== "instance") continue;
      for (const permission of permissionsOnInstance(role)) onInstance.add(permission);
    }
  }
  const inContext = (key: string, permission: string) =>
    byContext.get(key)?.has(permission) ?? false;
  return {
    holdsAnywhere: (permission) => anywhere.has(permission),
    holds(permission, place) {
      if (place.type === "system") return system.has(permission);
      if (place.type === "instance") return onInstance.has(permission);
      if (belowInstance.has(permission)) return true;
      if (place.type === "organization") return inContext(`organization/${place.id}`, permission);
      return (
        inContext(`organization/${place.organizationId}`, permission) ||
        inContext(`${place.type}/${place.id}`, permission)
      );
    },
    reach(permission) {
      const holding = (type: string) =>
        [...byContext]
          .filter(([key, held]) => key.startsWith(`${type}/`) && held.has(permission))
          .map(([key]) => key.slice(type.length + 1));
      return {
        everywhere: belowInstance.has(permission),
        organizations: holding("organization"),
        projects: holding("project"),
        projectGrants: holding("projectGrant"),
      };
    },
  };
}

/** What a caller meets who may know of an object, and lacks what he needs to act on it. */
export const permissionMissing = (permission: string): DomainError =>
  permissionDenied("PERMISSION_MISSING", `the caller lacks the permission ${permission}`, {
    metadata: { permission },
  });
