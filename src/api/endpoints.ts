import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceBinding } from "../authz/service.ts";
import { type Call, compose } from "./call.ts";
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
    binding.service.methods.map((method): Endpoint => {
      const rule = methodRule(method, defaults);
      const handler = binding.handlers[method.localName];
      if (handler === undefined) throw new Error(`method ${rule.path} has no handler`);
      const steps = interceptorsFor(ports, binding, rule);
      // A handler's types follow from the descriptor beside it (authz/service.ts).
      const run = (call: Call) => handler(call.request as never, scopeOf(call));
      switch (method.methodKind) {
        case "unary": {
          const work = async (call: Call) =>
            create(method.output, (await run(call)) as MessageInitShape<typeof method.output>);
          return { kind: "unary", rule, invoke: compose(steps, work) };
        }
        case "server_streaming": {
          const work = async (call: Call) =>
            messages(method.output, run(call) as AsyncIterable<MessageInitShape<DescMessage>>);
          return { kind: "server_streaming", rule, invoke: compose(steps, work) };
        }
        default:
          throw new Error(`method ${rule.path} takes a stream, which no protocol here carries`);
      }
    }),
  );
}

async function* messages(
  type: DescMessage,
  inits: AsyncIterable<MessageInitShape<DescMessage>>,
): AsyncIterable<Message> {
  for await (const init of inits) yield create(type, init);
}
