import type { Scope } from "../../authz/context.ts";
import { type DomainError, permissionDenied } from "../../errors.ts";
import { callerId, mayOn, permissionMissing } from "../org/index.ts";

/**
 * Refuses a proof of a user to whoever may not vouch for it: a code that is returned, or an address that is called proven
 * without one. For oneself a code only ever goes to the address, whatever one may do to others (authority J9).
 *
 * @throws PERMISSION_DENIED PROOF_FOR_ONESELF, PERMISSION_MISSING
 */
export function requireVouching(
  scope: Scope,
  about: { userId: string; organizationId: string },
  permission: string = scope.policy.act,
): void {
  if (about.userId === callerId(scope)) throw proofForOneself();
  if (!mayOn(scope, permission, about)) throw permissionMissing(permission);
}

const proofForOneself = (): DomainError =>
  permissionDenied(
    "PROOF_FOR_ONESELF",
    "nobody vouches for themselves: have the code sent, it goes to the address that it proves",
  );
