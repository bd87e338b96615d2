import type { Unfinished } from "../../authz/context.ts";
import { noPermissions } from "../../authz/permissions.ts";
import { type DomainError, permissionDenied } from "../../errors.ts";
import type { InterceptorFactory } from "../call.ts";

/**
 * Lets the bearer of a session that does not satisfy the login settings of its user do only what finishes it
 * (J11, option `unfinished_session`).
 *
 * @throws PERMISSION_DENIED MFA_REQUIRED where only a second factor is missing, LOGIN_POLICY
 */
export const sessionPolicy = (): InterceptorFactory => (rule) => {
  if (rule.access === "public") return undefined;
  return {
    check(call) {
      const { caller, request } = call;
      if (caller?.kind !== "user" || caller.unfinished === undefined) return;
      const { unfinished, userId, authentication } = caller;
      const { id } = (request ?? {}) as unknown as { id?: string };
      // Of what its user may do, only what everybody may do to their own account.
      call.permissions = noPermissions;
      switch (rule.unfinishedSession) {
        case "ownSession":
          if (id === authentication?.sessionId) return;
          break;
        case "ownUser":
          if (id === userId) return;
          break;
        case "firstOfKind":
          if (id === userId && unfinished.lacks.every((each) => each === "second_factor_setup")) {
            return;
          }
          break;
        case "passwordDue":
          if (id === userId && unfinished.mustChangePassword) return;
          break;
        case undefined:
          break;
        default:
          rule.unfinishedSession satisfies never;
      }
      throw refusalOf(unfinished);
    },
  };
};

function refusalOf({ lacks }: Unfinished): DomainError {
  const metadata = { lacks: lacks.join(" ") };
  return lacks.every((each) => each.startsWith("second_factor"))
    ? permissionDenied(
        "MFA_REQUIRED",
        "the login settings demand a second factor that the session lacks: check one in it, or set one up",
        { metadata },
      )
    : permissionDenied(
        "LOGIN_POLICY",
        "the session does not satisfy the login settings, or no longer: log in again in a way that they allow",
        { metadata },
      );
}
