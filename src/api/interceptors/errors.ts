import type { Kind } from "../../errors.ts";
import { sourceOf } from "../../authz/source.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import { toDomainError } from "../errors.ts";
import type { Ports } from "./index.ts";

/**
 * Nothing but refusals leaves a call: what is not one becomes INTERNAL, its cause goes to the log. What is refused before
 * anybody knows who calls takes one from the budget of its source (J12).
 *
 * @throws RESOURCE_EXHAUSTED BUDGET_SPENT late, in the place of the refusal
 */
export const errors =
  (ports: Ports): InterceptorFactory =>
  () =>
  async (call, next) => {
    try {
      return await next();
    } catch (error) {
      const refusal = toDomainError(error, call.requestId);
      if (call.caller === undefined && ofStrangers.has(refusal.kind)) await spend(ports, call);
      throw refusal;
    }
  };

// No valid token, and a host that leads to no instance. What fails for another reason is not the fault of who calls.
const ofStrangers: ReadonlySet<Kind> = new Set(["unauthenticated", "notFound"]);

async function spend({ budgets, slowDown }: Ports, call: Call): Promise<void> {
  try {
    budgets.spend("unauthenticated", sourceOf(call.peer));
  } catch (spent) {
    await slowDown(call.peer, (listener) => {
      call.onGone = listener;
      if (call.gone) listener();
    });
    throw spent;
  }
}
