import type { Caller } from "../../authz/context.ts";
import { permissionsFrom } from "../../authz/permissions.ts";
import { unauthenticated } from "../../errors.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

const challenge = { "www-authenticate": "Bearer" };

/**
 * Finds out who calls by the bearer token (decisions B3, B5).
 *
 * @throws UNAUTHENTICATED TOKEN_MISSING, TOKEN_MALFORMED, TOKEN_INVALID
 */
export const authenticate =
  (ports: Ports): InterceptorFactory =>
  ({ access }) => {
    if (access === "public") return undefined;
    return async (call, next) => {
      const caller = await callerOf(ports, call);
      call.caller = caller;
      if (caller.kind === "system") {
        const roles = ["SYSTEM_OWNER"];
        call.permissions = permissionsFrom([{ contextType: "system", contextId: "", roles }]);
      } else {
        const held = ports.memberships.ofUser(call.instanceId, caller.userId);
        call.permissions = permissionsOf(held instanceof Promise ? await held : held);
      }
      return next();
    };
  };

// Memberships are cached lists: the same list gives the same permissions, so they are united once.
const united = new WeakMap<object, ReturnType<typeof permissionsFrom>>();

function permissionsOf(memberships: Parameters<typeof permissionsFrom>[0]) {
  let permissions = united.get(memberships);
  if (permissions === undefined) {
    permissions = permissionsFrom(memberships);
    united.set(memberships, permissions);
  }
  return permissions;
}

async function callerOf({ tokens }: Ports, call: Call): Promise<Caller> {
  const header = call.headers.get("authorization");
  if (header === undefined) {
    throw unauthenticated("TOKEN_MISSING", "send the header Authorization: Bearer <token>", {
      headers: challenge,
    });
  }
  const token = /^bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
  if (token === undefined || call.headers.count("authorization") > 1) {
    throw unauthenticated(
      "TOKEN_MALFORMED",
      "send exactly one Authorization header of the form: Bearer <token>",
      { headers: challenge },
    );
  }
  for (const verify of tokens) {
    const caller = await verify(token, { instanceId: call.instanceId, issuer: call.issuer });
    if (caller !== undefined) return caller;
  }
  throw tokenInvalid();
}

/** The answer to every token that does not hold, whatever the cause: nobody learns which it was. */
export const tokenInvalid = () =>
  unauthenticated(
    "TOKEN_INVALID",
    "the token is unknown, expired or revoked, or was made for another instance",
    {
      headers: { "www-authenticate": 'Bearer error="invalid_token"' },
    },
  );
