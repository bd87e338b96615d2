import { create } from "@bufbuild/protobuf";
import type { ServiceBinding } from "../authz/service.ts";
import { compose } from "./call.ts";
import type { Endpoint } from "./endpoint.ts";
import { interceptorsFor, type Ports } from "./interceptors/index.ts";
import { methodRule } from "./method-rule.ts";
import { scopeOf } from "./scope.ts";

/**
 * One endpoint a method: its interceptors composed around its handler, once, at start.
 *
 * @throws Error when a method states no permission, or has no handler
 */
export function createEndpoints(
  bindings: readonly ServiceBinding[],
  ports: Ports,
  defaults: { timeoutMs: number; maxBodyBytes: number },
): Endpoint[] {
  return bindings.flatMap((binding) =>
    binding.service.methods
      .filter(({ methodKind }) => methodKind === "unary")
      .map((method) => {
        const rule = methodRule(method, defaults);
        const handler = binding.handlers[method.localName];
        if (handler === undefined) throw new Error(`method ${rule.path} has no handler`);
        const invoke = compose(interceptorsFor(ports, binding, rule), async (call) =>
          // The handler's types follow from the descriptor beside it (authz/service.ts).
          create(method.output, await handler(call.request as never, scopeOf(call))),
        );
        return { rule, invoke };
      }),
  );
}
