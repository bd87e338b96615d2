import type { Scope } from "../../authz/context.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import { notFound } from "../../errors.ts";
import type { Deps } from "../../projection/module.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { createTenancy, requireOrganization } from "./tenancy.ts";

/**
 * Refuses what the caller may not do to the context of the call itself, the instance or an organization: to its settings.
 *
 * @throws NOT_FOUND ORGANIZATION_NOT_FOUND for an organization that he may not read either
 * @throws PERMISSION_DENIED PERMISSION_MISSING
 */
export function requireOnContext(
  deps: Pick<Deps, "db" | "organizations">,
): (request: unknown, scope: Scope) => Promise<void> {
  const tenancy = createTenancy(deps);
  return async (_, scope) => {
    const { context, permissions, policy } = scope;
    if (context.type === "organization") {
      return tenancy.require(scope, context, contextNotFound);
    }
    if (!permissions.holds(policy.onInstance, { type: "instance" })) {
      throw permissionMissing(policy.onInstance);
    }
  };
}

/**
 * Makes sure that the context of the call is still there when the unit commits.
 *
 * @throws NOT_FOUND ORGANIZATION_NOT_FOUND
 */
export async function requireContext(tx: Transaction, { context }: Scope): Promise<void> {
  if (context.type === "organization") await requireOrganization(tx, context.organizationId);
}

// To the letter what the resolving of the context says of an organization that is not there (B3).
const contextNotFound = () =>
  notFound("ORGANIZATION_NOT_FOUND", "the organization that the call names does not exist");
