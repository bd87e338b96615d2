import type { JsonObject } from "@bufbuild/protobuf";
import type { Transaction, WriteContext } from "../eventstore/transaction.ts";
import type { OwnerRef } from "../eventstore/event.ts";
import type { Presence } from "../eventstore/presence.ts";
import type { Permissions } from "./permissions.ts";

/**
 * How much of its user's power a token carries (J4). A token without a limit carries all of it: session tokens,
 * personal access tokens, and tokens of machine users.
 */
export type TokenLimit = {
  /** Names of permissions, or `*` for all of them. */
  permissions: readonly string[];
  /** Whether they count on the instance and in all of its organizations. */
  instance: boolean;
  /** The organizations in which they count. */
  organizationIds: readonly string[];
  /** What it may do to the account of its own user: read it, write it, or also change its ways to log in (J4a). */
  ownAccount: "read" | "write" | "credential";
  /** Names of permissions by which it may give or take holds on users, as `permissions` (J4a). */
  holds: readonly string[];
};

/** When and how the user of a token proved who they are; tokens that stand for themselves have none (L2). */
export type Authentication = {
  sessionId: string;
  /** When the strongest factor that was checked in the session was checked last. */
  at: Date;
  /** In the words of RFC 8176, as in the claim `amr`. */
  methods: readonly string[];
  /** When each strength was proven last; what proves one proves all weaker ones. */
  proven: Readonly<Record<Strength, Date | undefined>>;
};

/** What a session lacks to act as its user, by the login settings of the user's organization (J11). */
export type Unfinished = {
  lacks: readonly (
    | "first_factor"
    | "allowed_way"
    | "second_factor"
    | "second_factor_setup"
    | "session_lifetime"
  )[];
  hasSecondFactor: boolean;
  mustChangePassword: boolean;
};

/** How strong an authentication is: a passkey that verified its user or a recovery code, a second factor, and so on. */
export type Strength = "passkey" | "mfa" | "password" | "provider" | "email";

/** Who calls: a user of the instance, or a system caller of the configuration. */
export type Caller =
  | {
      kind: "user";
      userId: string;
      organizationId: string;
      tokenKind: string;
      /** The OAuth client that an access token was issued to; other tokens have none. */
      clientId?: string;
      /** The OIDC session that an access token is of. */
      familyId?: string;
      /** Who acts for the user, the last one first (RFC 8693): the call has no more than what each of them may do. */
      actorIds?: readonly string[];
      limit?: TokenLimit;
      authentication?: Authentication;
      unfinished?: Unfinished;
    }
  | { kind: "system"; name: string };

/**
 * The context a request names (B2); the instance unless it says otherwise, `isNamed` where `ctx` says it is the
 * instance.
 */
export type RequestedContext =
  | { type: "system" }
  | { type: "instance"; isNamed?: boolean }
  | { type: "organization"; organizationId: string };

/** What the schema demands of a caller on the object that their request names (`object_permission` and its like). */
export type ObjectPolicy = {
  /** The permission the method needs on the object; empty where the slice knows better. */
  act: string;
  /** Who lacks it on the object does not learn that it is there. */
  read: string;
  /** Users may do this to what is their own. */
  ownData: boolean;
  /** What is needed instead of `act` where the object is the instance itself. */
  onInstance: string;
};

/**
 * What a handler needs to know of the call it serves, set by the interceptors. Handlers see it only after the caller
 * is known and permitted.
 */
export type Scope = {
  readonly instanceId: string;
  /** Scheme, host and port under which the instance was called: the issuer of its tokens. */
  readonly issuer: string;
  readonly caller: Caller;
  readonly permissions: Permissions;
  readonly context: RequestedContext;
  readonly policy: ObjectPolicy;
  readonly requestId: string;
  /** Whom budgets count the call for (`source.ts`); what the service does by itself has no source. */
  readonly source: string | undefined;
  /** Who is there; nobody, for what the service does by itself. */
  readonly presence: Presence | undefined;
  /** Full name of the service and the method: `<package>.<Service>/<Method>`. */
  readonly method: string;
  /** The languages that the caller reads (`Accept-Language`), as they were sent. */
  readonly acceptLanguage: string | undefined;
  /** The body as it comes, where the method leaves the reading to its handler and the protocol carries bodies so. */
  readonly body: AsyncIterable<Uint8Array> | undefined;
  /** Fires when the caller has gone or the deadline has passed. */
  readonly signal: AbortSignal | undefined;
  /** What must still hold in each unit that the call writes: the holds that it was let through by. */
  readonly guard?: ((tx: Transaction) => Promise<void>) | undefined;
  /** The sequence that the object of the call must be at for the call to change it. */
  readonly expectedSequence?: bigint | undefined;
  /**
   * Of a person who registers on the pages of the service: the addresses of the request are proven by codes that were sent there, and the
   * passkey is what their browser made for the account, which gets this id. Calls from within alone can say so.
   */
  readonly newcomer?:
    | { passkey?: { userId: string; webAuthNId: string; name: string; credential: JsonObject } }
    | undefined;
  /** The id of the browser in which the login shows its pages, which has proven itself by its cookie (J12). */
  readonly browser?: string | undefined;
  /** What it costs the source was counted already, before anything was looked up (J12): a guess, or a message. */
  readonly isCounted?: boolean | undefined;
  /** What the handler wants told about its answer: an HTTP status other than the declared one. */
  readonly answer: { httpStatus?: number };
};

/** On whose behalf a call writes. */
export function writeContext(scope: Scope, instanceId = scope.instanceId): WriteContext {
  const { caller, presence } = scope;
  return {
    instanceId,
    editorId: editorOf(caller),
    service: scope.method.slice(0, scope.method.indexOf("/")),
    clientId: clientOf(caller),
    requestId: scope.requestId,
    source: scope.source,
    presence: presence && within(scope, instanceId, presence),
    guard: scope.guard,
    signal: scope.signal,
    browser: scope.browser,
    expectedSequence: scope.expectedSequence,
    isCounted: scope.isCounted,
  };
}

/** In the log of another instance a user is nobody who is known there. */
const within = (scope: Scope, instanceId: string, presence: Presence): Presence =>
  scope.instanceId === instanceId || scope.caller.kind === "system"
    ? presence
    : { ...presence, personId: undefined };

/** Whether an editor is a part of the service, or a system caller: nobody of the instance. */
export const isServiceEditor = (editorId: string): boolean =>
  editorId === "bootstrap" || editorId.startsWith("system:");

/** As `isServiceEditor`, for what stands in the log: an older store may have had a user of such an id. */
export const isOfService = async (tx: Transaction, editorId: string): Promise<boolean> =>
  isServiceEditor(editorId) && (await tx.usedIds(["user"], [editorId])).size === 0;

/**
 * What the log calls a caller. Users of older stores may have an id that looks like an editor of the service; in front of it
 * stands what no id has (J7).
 */
export function editorOf(caller: Caller): string {
  if (caller.kind === "system") return `system:${caller.name}`;
  return isServiceEditor(caller.userId) ? `user/${caller.userId}` : caller.userId;
}

/** The OAuth client that calls; empty where there is none. */
export const clientOf = (caller: Caller | undefined): string =>
  caller?.kind === "user" ? (caller.clientId ?? "") : "";

export const instanceOwner = (scope: Scope): OwnerRef => ({
  type: "instance",
  id: scope.instanceId,
});
