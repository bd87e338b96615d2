import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Caller, TokenLimit } from "../../authz/context.ts";
import { commonPermissions, limitedPermissions } from "../../authz/limited.ts";
import { type Membership, permissionsFrom } from "../../authz/permissions.ts";
import { resourceExhausted, unauthenticated, tokenMissing } from "../../errors.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

const challenge = { "www-authenticate": "Bearer" };

/**
 * Finds out who calls: by the bearer token (B3, B5), by the one that the service stores for the browser of its console, or by the
 * word of the page that calls for them.
 *
 * @throws UNAUTHENTICATED TOKEN_MISSING, TOKEN_MALFORMED, TOKEN_INVALID
 * @throws RESOURCE_EXHAUSTED INSTANCE_BLOCKED for everybody but system callers (specification 10.1)
 */
export const authenticate =
  (ports: Ports): InterceptorFactory =>
  ({ access }) => {
    if (access === "public") return undefined;
    return {
      check: (call) =>
        whenKnown(call.vouched?.caller ?? callerOf(ports, call), (caller) =>
          admit(ports, call, caller),
        ),
    };
  };

function admit(ports: Ports, call: Call, caller: Caller): Awaitable<void> {
  call.caller = caller;
  if (caller.kind === "system") {
    const roles = ["SYSTEM_OWNER"];
    call.permissions = permissionsFrom([{ contextType: "system", contextId: "", roles }]);
    return undefined;
  }
  if (call.isBlocked) throw instanceBlocked();
  const ofUser = ports.memberships.ofUser(call.instanceId, caller.userId);
  if (!(ofUser instanceof Promise)) return permit(ports, call, caller, ofUser);
  return ofUser.then(async (found) => {
    // They may be newer than the token that was known, which may have ended as they were given (J20).
    const again = call.vouched?.caller ?? (await callerOf(ports, call));
    if (again.kind === "system" || again.userId !== caller.userId) throw tokenInvalid();
    call.caller = again;
    return permit(ports, call, again, found);
  });
}

function permit(
  { memberships }: Ports,
  call: Call,
  { limit, actorIds }: Exclude<Caller, { kind: "system" }>,
  ofUser: readonly Membership[],
): Awaitable<void> {
  call.permissions = permissionsOf(ofUser, limit);
  return actorIds === undefined ? undefined : limitToActors(memberships, call, actorIds);
}

/** Whoever acts for somebody does no more than either may (J2a). */
async function limitToActors(
  memberships: Ports["memberships"],
  call: Call,
  actorIds: readonly string[],
): Promise<void> {
  for (const id of actorIds) {
    const ofUser = await memberships.ofUser(call.instanceId, id);
    call.permissions = commonPermissions(call.permissions, permissionsOf(ofUser));
  }
}

// Memberships are cached lists: the same list gives the same permissions, so they are united once.
const united = new WeakMap<object, ReturnType<typeof permissionsFrom>>();
// The limit of a token is one object for as long as nothing of it changes.
const limited = new WeakMap<object, WeakMap<TokenLimit, ReturnType<typeof permissionsFrom>>>();

function permissionsOf(memberships: Parameters<typeof permissionsFrom>[0], limit?: TokenLimit) {
  if (limit !== undefined) {
    let byLimit = limited.get(memberships);
    if (byLimit === undefined) limited.set(memberships, (byLimit = new WeakMap()));
    let permissions = byLimit.get(limit);
    if (permissions === undefined) {
      byLimit.set(limit, (permissions = limitedPermissions(memberships, limit)));
    }
    return permissions;
  }
  let permissions = united.get(memberships);
  if (permissions === undefined) {
    permissions = permissionsFrom(memberships);
    united.set(memberships, permissions);
  }
  return permissions;
}

function callerOf({ tokens, browserTokens }: Ports, call: Call): Awaitable<Caller> {
  const header = call.headers.get("authorization");
  if (header === undefined) {
    return whenKnown(browserTokens(call), (token) => {
      if (token !== undefined) return firstToKnow(tokens, token, call, 0);
      throw tokenMissing("unauthenticated", "send the header Authorization: Bearer <token>", {
        headers: challenge,
      });
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
  return firstToKnow(tokens, token, call, 0);
}

/** Who calls with a token. @throws UNAUTHENTICATED TOKEN_INVALID */
export const callerOfToken = async (
  { tokens }: Ports,
  token: string,
  call: Call,
): Promise<Caller> => firstToKnow(tokens, token, call, 0);

function firstToKnow(
  tokens: Ports["tokens"],
  token: string,
  call: Call,
  from: number,
): Awaitable<Caller> {
  const verify = tokens[from];
  if (verify === undefined) throw tokenInvalid();
  return whenKnown(
    verify(token, call),
    (caller) => caller ?? firstToKnow(tokens, token, call, from + 1),
  );
}

const instanceBlocked = () =>
  resourceExhausted("INSTANCE_BLOCKED", "the instance is blocked: ask who runs the service", {
    retryAfterSeconds: 3600,
  });

/** The answer to every token that does not hold, whatever the cause: nobody learns which it was. */
export const tokenInvalid = () =>
  unauthenticated(
    "TOKEN_INVALID",
    "the token is unknown, expired or revoked, or was made for another instance",
    {
      headers: { "www-authenticate": 'Bearer error="invalid_token"' },
    },
  );
