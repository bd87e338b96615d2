import { type Column, eq, inArray, or, type SQL, sql } from "../storage/drizzle.ts";
import type { Awaitable } from "../awaitable.ts";
import { type DomainError, invalidField, notFound, permissionDenied } from "../errors.ts";
import type { Transaction } from "../eventstore/transaction.ts";
import type { Scope } from "./context.ts";
import { coversEverybody } from "./holds.ts";
import { nowhere, permissionMissing, type ResourceScope, type Reach } from "./permissions.ts";
import type { OrganizationReader } from "./ports.ts";

/** Where an object lives, and whose it is: what decides who may read and change it. */
export type Owned = {
  organizationId: string;
  projectId?: string;
  projectGrantId?: string;
  /** The user whose own data this is: they need no permission where the method says so. */
  userId?: string;
  /** Grants of it to other organizations: who may read it there, or by the grant, may read it. */
  grants?: readonly { id: string; organizationId: string }[];
};

type OwnerColumns = {
  organizationId: Column;
  projectId?: Column;
  userId?: Column;
  /** Rows that contexts reach although they own them not: what was granted to them. */
  also?: (reach: Reach) => SQL | undefined;
};

/** What every slice below an organization shares: who may see and do what to an object there (B2, B3). */
export type Tenancy = {
  /**
   * Refuses what the caller may not do to an object by the policy of the method (options `object_permission`,
   * `read_permission`, `own_data`). An object that they may not read, or whose organization is gone,
   * answers exactly as an absent one.
   *
   * @throws missing() when the object is not there for the caller
   * @throws PERMISSION_DENIED PERMISSION_MISSING when they may read it, and not act on it; OWN_PROJECT_PROTECTED for what
   * belongs to the service's own project and the caller does not cover its owners
   */
  require(scope: Scope, owned: Owned | undefined, missing: () => DomainError): Promise<void>;
  /**
   * Refuses a change of what belongs to the service's own project by whoever does not cover the owners of the instance.
   *
   * @throws PERMISSION_DENIED OWN_PROJECT_PROTECTED
   */
  requireOwnProjectRight(scope: Scope, projectId: string | undefined): Promise<void>;
  /** Keeps the rows that the caller may read, in the context they name, of organizations that live. */
  visible(scope: Scope, columns: OwnerColumns): Promise<(SQL | undefined)[]>;
  /** The same without the permission, for slices whose rows need several. */
  living(scope: Scope, columns: OwnerColumns): Promise<(SQL | undefined)[]>;
  /**
   * Refuses what the caller may not do to the context of the call itself, the instance or an organization: to its settings.
   *
   * @throws NOT_FOUND ORGANIZATION_NOT_FOUND for an organization that they may not read either
   * @throws PERMISSION_DENIED PERMISSION_MISSING
   */
  requireOnContext(this: void, request: unknown, scope: Scope): Promise<void>;
  /** Makes sure that an organization is still there when the unit commits. @throws NOT_FOUND ORGANIZATION_NOT_FOUND */
  requireOrganization(this: void, tx: Transaction, organizationId: string): Promise<void>;
  /**
   * Makes sure that the context of the call is still there when the unit commits.
   *
   * @throws NOT_FOUND ORGANIZATION_NOT_FOUND
   */
  requireContext(this: void, tx: Transaction, scope: Scope): Promise<void>;
};

/** What the slices of instances and organizations answer. */
export interface TenancyPorts {
  organizations: Pick<OrganizationReader, "byId">;
  /** Drops the rows of organizations that were removed and whose contents still have rows; undefined where there are none. */
  keepLiving(instanceId: string, organizationId: Column): Promise<SQL | undefined>;
  /** The project that stands for the service in an instance. */
  ownProject(instanceId: string): Awaitable<string | undefined>;
  /** @throws NOT_FOUND ORGANIZATION_NOT_FOUND unless the organization is there when the unit commits */
  requireOrganization(this: void, tx: Transaction, organizationId: string): Promise<void>;
}

export function createTenancy(ports: TenancyPorts): Tenancy {
  const { organizations } = ports;
  const tenancy: Tenancy = {
    async require(scope, owned, missing) {
      if (owned === undefined) throw missing();
      if ((await organizations.byId(scope.instanceId, owned.organizationId)) === undefined) {
        throw missing();
      }
      const { act, read, ownData } = scope.policy;
      const mine = owned.userId !== undefined && owned.userId === callerId(scope);
      if ((mine && ownData) || mayOn(scope, act, owned)) {
        if (!act.endsWith(".read")) await requireOwnProjectRight(scope, owned.projectId);
        return;
      }
      const isGranted = await mayByGrant(scope, read, owned.grants);
      if (isGranted && act === read) return;
      if (!mine && !isGranted && !mayOn(scope, read, owned)) throw missing();
      throw permissionMissing(act);
    },

    requireOwnProjectRight,

    visible: async (scope, columns) => [
      reachFilter(scope, await livingReach(scope), columns),
      ...(await living(scope, columns)),
    ],
    living,

    async requireOnContext(_, scope) {
      const { context, permissions, policy } = scope;
      if (context.type === "organization") {
        return tenancy.require(scope, context, contextNotFound);
      }
      if (!permissions.holds(policy.onInstance, { type: "instance" })) {
        throw permissionMissing(policy.onInstance);
      }
    },

    requireOrganization: ports.requireOrganization,

    async requireContext(tx, { context }) {
      if (context.type !== "organization") return;
      await ports.requireOrganization(tx, context.organizationId);
    },
  };
  return tenancy;

  // The project that stands for the service in an instance belongs to the instance (J4).
  async function requireOwnProjectRight(scope: Scope, projectId: string | undefined) {
    if (projectId === undefined) return;
    if (scope.caller.kind === "system" || coversEverybody(scope.permissions)) return;
    if (projectId === (await ports.ownProject(scope.instanceId))) throw ownProjectProtected();
  }

  // A membership outlives its organization for a moment, what it reached does not.
  async function livingReach({ instanceId, permissions, policy }: Scope): Promise<Reach> {
    const reach = permissions.reach(policy.read);
    const alive: string[] = [];
    for (const id of reach.organizations) {
      if ((await organizations.byId(instanceId, id)) !== undefined) alive.push(id);
    }
    return { ...reach, organizations: alive };
  }

  async function mayByGrant(scope: Scope, read: string, grants: Owned["grants"] = []) {
    for (const { id, organizationId } of grants) {
      if (!mayOn(scope, read, { organizationId, projectGrantId: id })) continue;
      if ((await organizations.byId(scope.instanceId, organizationId)) !== undefined) return true;
    }
    return false;
  }

  async function living({ instanceId, context }: Scope, { organizationId, also }: OwnerColumns) {
    const filters: (SQL | undefined)[] = [];
    if (context.type === "organization") {
      const named = context.organizationId;
      const reached = also?.({ ...nowhere, organizations: [named] });
      filters.push(or(eq(organizationId, named), reached));
    }
    filters.push(await ports.keepLiving(instanceId, organizationId));
    return filters;
  }
}

export const callerId = ({ caller }: Scope): string | undefined =>
  caller.kind === "user" ? caller.userId : undefined;

/** Whether the caller holds a permission on an object: on its organization, or more closely. */
export function mayOn(scope: Scope, permission: string, owned: Owned): boolean {
  const { organizationId, projectId, projectGrantId } = owned;
  const resourceScopes: ResourceScope[] = [{ type: "organization", id: organizationId }];
  if (projectId !== undefined)
    resourceScopes.push({ type: "project", id: projectId, organizationId });
  if (projectGrantId !== undefined) {
    resourceScopes.push({ type: "projectGrant", id: projectGrantId, organizationId });
  }
  return resourceScopes.some((resourceScope) => scope.permissions.holds(permission, resourceScope));
}

const ownProjectProtected = () =>
  permissionDenied(
    "OWN_PROJECT_PROTECTED",
    "the project of the service itself belongs to the instance: only who may do everything in that changes it",
  );

function reachFilter(scope: Scope, reach: Reach, columns: OwnerColumns): SQL | undefined {
  if (reach.everywhere) return undefined;
  const { organizationId, projectId, userId, also } = columns;
  const within: (SQL | undefined)[] = [];
  if (reach.organizations.length > 0) {
    within.push(inArray(organizationId, [...reach.organizations]));
  }
  if (projectId !== undefined && reach.projects.length > 0) {
    within.push(inArray(projectId, [...reach.projects]));
  }
  const caller = callerId(scope);
  if (userId !== undefined && caller !== undefined && scope.policy.ownData)
    within.push(eq(userId, caller));
  const reached = also?.(reach);
  if (reached !== undefined) within.push(reached);
  return within.length === 0 ? sql`1 = 0` : or(...within);
}

/**
 * The organization that something is created in: the one of the context, else the caller's own (B2).
 *
 * @throws INVALID_ARGUMENT CONTEXT_INVALID for a caller without organization who names none
 */
export function organizationOf({ context, caller }: Scope): string {
  if (context.type === "organization") return context.organizationId;
  if (context.type === "instance" && caller.kind === "user") return caller.organizationId;
  throw contextInvalid(
    "name the organization: ctx.org_id, ctx.org_domain or the header x-idsvc-orgid",
  );
}

/** The context that a call names is none that it could act on. */
export const contextInvalid = (description: string, field = "ctx"): DomainError =>
  invalidField(field, "CONTEXT_INVALID", description);

export const organizationMissing = (text: string): DomainError =>
  notFound("ORGANIZATION_NOT_FOUND", text);
/** Of an organization that the caller may not know of, too (B3). */
export const contextNotFound = (): DomainError =>
  organizationMissing("the organization that the call names does not exist");

export const instanceMissing = (text: string): DomainError => notFound("INSTANCE_NOT_FOUND", text);
export const instanceOfHostOnly = (): DomainError =>
  instanceMissing("the instance that ctx names is not the one of this host");

/** The token of a session that a call names beside its own caller. */
export const sessionTokenInvalid = (description: string): DomainError =>
  invalidField("session_token", "SESSION_TOKEN_INVALID", description);
