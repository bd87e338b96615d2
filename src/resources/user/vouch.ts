import type { Scope } from "../../authz/context.ts";
import { instanceWriter } from "../../authz/roles.ts";
import { type DomainError, permissionDenied } from "../../errors.ts";
import { callerId, mayOn } from "../../authz/tenancy.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import type { MarkProof, Reach } from "./events.ts";

/**
 * Refuses a proof of a user to whoever may not vouch for it: a code that is returned, or an address that is called proven
 * without one. For oneself a code only ever goes to the address, whatever one may do to others (J9).
 *
 * @returns how far the word of the caller reaches, and whether it is more than their word
 * @throws PERMISSION_DENIED PROOF_FOR_ONESELF, PERMISSION_MISSING
 */
export function requireVouching(
  scope: Scope,
  about: { userId: string; organizationId: string },
  permission: string = scope.policy.act,
): Reach & MarkProof {
  if (about.userId === callerId(scope)) throw proofForOneself();
  if (!mayOn(scope, permission, about)) throw permissionMissing(permission);
  return { ...reachOf(scope), ...(scope.newcomer ? { proof: "code" } : {}) };
}

/** How far the word of the caller reaches: through the instance for whoever writes it, else through the organization. */
export const reachOf = ({ permissions }: Pick<Scope, "permissions">): Reach =>
  permissions.holds(instanceWriter, { type: "instance" }) ? {} : { reach: "organization" };

const proofForOneself = (): DomainError =>
  permissionDenied(
    "PROOF_FOR_ONESELF",
    "nobody vouches for themselves: have the code sent, it goes to the address that it proves",
  );
