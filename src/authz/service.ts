import type {
  DescMethod,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Awaitable } from "../awaitable.ts";
import type { Transaction } from "../eventstore/transaction.ts";
import type { Presence } from "../eventstore/presence.ts";
import type { Caller, Scope } from "./context.ts";
import type { CachedResponse } from "./response-cache.ts";
import type { Held } from "./holds.ts";
import type { StepUpNeed } from "./step-up.ts";

/** The handlers of a service: what a call means, without transport, permission or validation. */
export type Handlers<S extends DescService> = {
  [K in keyof S["method"]]: (
    request: MessageShape<S["method"][K]["input"]>,
    scope: Scope,
  ) => Answer<S["method"][K]>;
};

type Answer<M extends DescMethod> = M["methodKind"] extends "server_streaming"
  ? AsyncIterable<Answered<MessageInitShape<M["output"]>>>
  : Promise<Answered<MessageInitShape<M["output"]>>>;
type Answered<I extends object> = I | CachedResponse<I>;

/**
 * Checks of single objects, for methods whose permission may be held on something below the instance: throws the
 * slice's own "not found" when the caller may not read the object, and PERMISSION_DENIED when they may only read it.
 */
export type Authorize<S extends DescService> = {
  [K in keyof S["method"]]?: (
    request: MessageShape<S["method"][K]["input"]>,
    scope: Scope,
  ) => Promise<void>;
};

/**
 * Whom a method of the option `holds` holds, where it is not the user that the field `id` names, or not in every request.
 * It runs after the caller was authorized on the object, and again in each unit that the call writes, with `tx`: what it looks
 * at by that must still be so when the unit commits.
 */
export type HeldBy<S extends DescService> = {
  [K in keyof S["method"]]?: (
    request: MessageShape<S["method"][K]["input"]>,
    scope: Scope,
    tx?: Transaction,
  ) => Awaitable<readonly Held[]>;
};

/** How a request bears on step-up, for methods of the option `step_up` where not all requests are alike. */
export type StepUpNeeds<S extends DescService> = {
  [K in keyof S["method"]]?: (
    request: MessageShape<S["method"][K]["input"]>,
  ) => Awaitable<StepUpNeed>;
};

type Handler = (request: never, scope: Scope) => Promise<object> | AsyncIterable<object>;

/** A service with its handlers, of whatever types. */
export type ServiceBinding = {
  service: DescService;
  handlers: Readonly<Record<string, Handler>>;
  authorize: Readonly<Record<string, (request: never, scope: Scope) => Promise<void>>>;
  held?: Readonly<
    Record<string, (request: never, scope: Scope, tx?: Transaction) => Awaitable<readonly Held[]>>
  >;
  stepUp?: Readonly<Record<string, (request: never) => Awaitable<StepUpNeed>>>;
};

export function service<S extends DescService>(
  description: S,
  handlers: Handlers<S>,
  authorize: Authorize<S> = {},
  held: HeldBy<S> = {},
  stepUp: StepUpNeeds<S> = {},
): ServiceBinding {
  // Handlers are looked up by method name, next to the descriptor that types them: the pairing is checked above.
  return {
    service: description,
    handlers: handlers as ServiceBinding["handlers"],
    authorize: authorize as ServiceBinding["authorize"],
    held: held as NonNullable<ServiceBinding["held"]>,
    stepUp: stepUp as NonNullable<ServiceBinding["stepUp"]>,
  };
}

/** The same check for every method whose request names an object by `id`. */
export function authorizeById<S extends DescService>(
  description: S,
  check: (request: { id: string }, scope: Scope) => Promise<void>,
): Authorize<S> {
  const named = description.methods.filter(({ input }) => "id" in input.field);
  // The methods are chosen by the very field that the check takes.
  const checks: unknown = Object.fromEntries(named.map(({ localName }) => [localName, check]));
  return checks as Authorize<S>;
}

/** On whose behalf the service calls itself. */
export type InnerCaller = {
  instanceId: string;
  issuer: string;
  requestId: string;
  /** Whose request it is, where the service acts for somebody. */
  source?: string;
  /** Who is there, where the service acts for somebody. */
  presence?: Presence;
  /** A user, who may do what users may do to themselves; or the service, which may do everything in an instance. */
  as: { userId: string; organizationId: string } | { system: string };
  /** The organization that the call is about; the caller's own where it needs one and none is said. */
  organizationId?: string;
  /** The service acts on the word of an organization, whose word counts for nothing on the instance. */
  isWithinOrganizations?: boolean;
  /** As in `Scope`. */
  newcomer?: Scope["newcomer"];
  /** As in `Scope`. */
  browser?: string | undefined;
  /** As in `Scope`. */
  isCounted?: boolean;
};

/** A person who calls by a page of the service, for as long as their browser's session lets them. */
export type PagePerson = {
  /** As whom the session lets its user act. */
  caller: Caller;
  /** The browser, as in `Scope`. */
  browser: string;
  issuer: string;
  requestId: string;
  peer: string;
  /** The language of the page, in which texts are answered. */
  language: string;
  /** The headers of the request to the page. */
  header(name: string): string | undefined;
};

/**
 * Calls a method for a person, as a client with a token of theirs would: each check of calls from outside is made, and their
 * browser's session has what power it has by when and how they proved themselves.
 */
export type CallForPerson = <M extends DescMethodUnary>(
  method: M,
  request: MessageInitShape<M["input"]>,
  person: PagePerson,
) => Promise<MessageShape<M["output"]>>;

/**
 * Calls a method of a service from within the process: its request is validated and its handler run as for every caller.
 * Nobody is to be authenticated, so the caller vouches for who it is.
 */
export type CallService = <M extends DescMethodUnary>(
  method: M,
  request: MessageInitShape<M["input"]>,
  caller: InnerCaller,
) => Promise<MessageShape<M["output"]>>;
