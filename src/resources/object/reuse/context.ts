import type { Scope } from "../../../authz/context.ts";
import { permissionMissing, type ResourceScope } from "../../../authz/permissions.ts";
import { type DomainError, failedPrecondition, permissionDenied } from "../../../errors.ts";
import type { OwnerRef } from "../../../eventstore/event.ts";

/**
 * The context that a call acts on a resource in: the organization it names, else the one that the resource belongs to. What
 * belongs to the system is acted on there by system callers that name no instance, and in the instance by its own. Undefined
 * where the context neither has the resource nor inherits it.
 */
export function actingContext(scope: Scope, owner: OwnerRef): OwnerRef | undefined {
  const { context, instanceId, caller } = scope;
  const inInstance: OwnerRef = { type: "instance", id: instanceId };
  switch (context.type) {
    case "system":
      return owner.type === "system" ? owner : undefined;
    case "instance":
      return owner.type === "system" && (caller.kind === "user" || context.isNamed)
        ? inInstance
        : owner;
    case "organization": {
      const { organizationId: id } = context;
      return owner.type === "org" && owner.id !== id ? undefined : { type: "org", id };
    }
  }
}

/** Whether a context that sees a resource has it from another one. */
export const inherits = (context: OwnerRef, owner: OwnerRef): boolean =>
  context.type !== owner.type || context.id !== owner.id;

/**
 * Refuses what the caller may not do to a resource in the context that they act in.
 *
 * @throws missing() where they may not read it there, as if it were not there
 * @throws PERMISSION_DENIED PERMISSION_MISSING
 */
export function requireIn(
  { permissions, policy }: Scope,
  context: OwnerRef,
  missing: () => DomainError,
): void {
  const resourceScope = resourceScopeOf(context);
  if (permissions.holds(policy.act, resourceScope)) return;
  if (!permissions.holds(policy.read, resourceScope)) throw missing();
  throw permissionMissing(policy.act);
}

export const resourceScopeOf = ({ type, id }: OwnerRef): ResourceScope =>
  type === "org" ? { type: "organization", id } : { type };

/** A context that inherits a resource changes nothing of it but its own state policy (E3). */
export const inheritedReadOnly = (field: string): DomainError =>
  failedPrecondition(
    "INHERITED_READ_ONLY",
    `${field} belongs to the context that the resource is inherited from: here only state_policy can be changed`,
    { metadata: { field } },
  );

/** A resource is deleted where it belongs. */
export const inheritedNotDeletable = (): DomainError =>
  permissionDenied(
    "INHERITED_NOT_DELETABLE",
    "the resource is inherited here: it can be deleted only in the context that it belongs to",
  );
