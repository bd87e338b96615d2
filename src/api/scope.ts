import type { Scope } from "../authz/context.ts";
import { unauthenticated } from "../errors.ts";
import type { Call } from "./call.ts";

/** The part of a call that slices may see. */
export function scopeOf(call: Call): Scope {
  const { caller } = call;
  if (caller === undefined) throw unauthenticated("TOKEN_MISSING", "this needs a caller");
  return {
    instanceId: call.instanceId,
    issuer: call.issuer,
    caller,
    permissions: call.permissions,
    context: call.context,
    requestId: call.requestId,
    method: call.rule.path.slice(1),
    get signal() {
      // Most calls never look: a controller is made for those that do.
      call.abort ??= new AbortController();
      if (call.gone) call.abort.abort();
      return call.abort.signal;
    },
    answer: call.answer,
  };
}
