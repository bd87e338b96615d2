import { holdingAlso, noPermissions } from "../../authz/permissions.ts";
import { loginClient, registering } from "../../authz/roles.ts";
import { DomainError } from "../../errors.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import { callerOfToken } from "./authenticate.ts";
import type { Ports } from "./index.ts";
import { sessionTokenInvalid } from "../../authz/tenancy.ts";

const instance = { type: "instance" } as const;

/**
 * Lets a login client act for a user (J2a, option `session_acts`). With the token of a session of the user, in
 * the field `session_token`, the call goes on as a call of that user, who may do what they may do to their own account.
 * Without it, a login client may finish the account of a user whom it registered, until that user first logs in.
 *
 * @throws INVALID_ARGUMENT SESSION_TOKEN_INVALID for a token that is not one of a living session of the user
 * @throws PERMISSION_DENIED what the policy lacks, where the session does not satisfy it
 */
export const actingFor =
  (ports: Ports): InterceptorFactory =>
  ({ sessionActs }) =>
    sessionActs
      ? {
          async check(call) {
            const { caller, permissions, instanceId } = call;
            if (caller?.kind !== "user" || !permissions.holds(loginClient, instance)) return;
            const { id, sessionToken } = requestOf(call);
            if (sessionToken !== undefined) {
              const user = await callerOfToken(ports, sessionToken, call).catch(refused);
              if (user.kind !== "user" || user.tokenKind !== "session_token") throw tokenInvalid();
              if (user.userId !== id) throw tokenInvalid();
              call.caller = user;
              call.permissions = noPermissions;
              return;
            }
            const registered = await ports.registrations.openFor(instanceId, caller.userId, id);
            if (registered === undefined) return;
            const { organizationId } = registered;
            call.permissions = holdingAlso(permissions, registering, organizationId);
          },
        }
      : undefined;

// The methods of the option have both fields.
const requestOf = ({ request }: Call) =>
  request as unknown as { id: string; sessionToken?: string | undefined };

function refused(error: unknown): never {
  throw error instanceof DomainError && error.kind === "unauthenticated" ? tokenInvalid() : error;
}

const tokenInvalid = () =>
  sessionTokenInvalid(
    "is not the token of a session of the user: a newer one took its place, or it is another session's",
  );
