import type { Scope } from "../authz/context.ts";
import { writesOwnAccount } from "../authz/limited.ts";
import { presenceOf, whereOf } from "../authz/presence.ts";
import { sourceOf } from "../authz/source.ts";
import { tokenMissing } from "../errors.ts";
import type { Call } from "./call.ts";

/** The part of a call that slices may see. */
export function scopeOf(call: Call): Scope {
  const { caller } = call;
  if (caller === undefined) throw tokenMissing("unauthenticated", "this needs a caller");
  return new CallScope(call, caller);
}

/** Brings a scope up to what holds now: a stream outlives what its caller could do when they opened it. */
export function renewScope(scope: Scope, { caller, permissions, context }: Call): void {
  if (!(scope instanceof CallScope) || caller === undefined) return;
  scope.caller = caller;
  scope.permissions = permissions;
  scope.context = context;
}

/** A token that was given only the reading of its user's account writes nothing there as the user's own (J4). */
function policyFor(policy: Scope["policy"], caller: Scope["caller"]): Scope["policy"] {
  if (!policy.ownData || writesOwnAccount(caller) || policy.act.endsWith(".read")) return policy;
  return { ...policy, ownData: false };
}

// A class, because an object literal with a getter is built anew for every call, which is twenty times as slow.
class CallScope implements Scope {
  readonly instanceId: string;
  readonly issuer: string;
  caller: Scope["caller"];
  permissions: Scope["permissions"];
  context: Scope["context"];
  readonly policy: Scope["policy"];
  readonly requestId: string;
  readonly method: string;
  readonly answer: Scope["answer"];
  readonly #call: Call;

  constructor(call: Call, caller: Scope["caller"]) {
    this.instanceId = call.instanceId;
    this.issuer = call.issuer;
    this.caller = caller;
    this.permissions = call.permissions;
    this.context = call.context;
    this.policy = policyFor(call.rule.policy, caller);
    this.requestId = call.requestId;
    this.method = call.rule.path.slice(1);
    this.answer = call.answer;
    this.#call = call;
  }

  get acceptLanguage(): string | undefined {
    return this.#call.headers.get("accept-language");
  }

  get body(): AsyncIterable<Uint8Array> | undefined {
    return this.#call.openBody?.();
  }

  get browser(): string | undefined {
    return this.#call.vouched?.browser;
  }

  get source(): string {
    return sourceOf(this.#call.peer);
  }

  get presence(): Scope["presence"] {
    return presenceOf(whereOf(this.#call.peer, this.#call.headers), this.caller);
  }

  get expectedSequence(): bigint | undefined {
    return this.#call.expectedSequence;
  }

  get guard(): Scope["guard"] {
    return this.#call.guard;
  }

  get signal(): AbortSignal {
    const call = this.#call;
    // Most calls never look: a controller is made for those that do.
    call.abort ??= new AbortController();
    if (call.gone) call.abort.abort();
    return call.abort.signal;
  }
}
