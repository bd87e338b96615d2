import { whenKnown } from "../../awaitable.ts";
import type { ServiceBinding } from "../../authz/service.ts";
import type { InterceptorFactory } from "../call.ts";
import { scopeOf } from "../scope.ts";
import type { Ports } from "./index.ts";

/**
 * Lets users change their own ways to log in only when they have proven themselves lately (L2, option `step_up`).
 *
 * @throws UNAUTHENTICATED STEP_UP_REQUIRED
 */
export const stepUp =
  ({ stepUp: port }: Ports, binding: ServiceBinding): InterceptorFactory =>
  ({ method, stepUp: isNeeded }) => {
    if (!isNeeded) return undefined;
    const needOf = binding.stepUp?.[method.localName];
    return {
      check(call) {
        const scope = scopeOf(call);
        // The user that the request names: validation requires the field.
        const { id } = call.request as unknown as { id: string };
        if (scope.caller.kind !== "user" || scope.caller.userId !== id) return undefined;
        return whenKnown(needOf?.(call.request as never) ?? "proven", (need) =>
          need === "none"
            ? undefined
            : port.require(scope, { passwordGiven: need === "passwordGiven" }),
        );
      },
    };
  };
