import type { DescMessage } from "@bufbuild/protobuf";
import type { Scope } from "../authz/context.ts";
import { type Response, responseOf } from "../authz/response-cache.ts";
import type { ServiceBinding } from "../authz/service.ts";
import { type Call, type Check, compose, newCall } from "./call.ts";
import { createDeferral } from "./deferral.ts";
import type { Endpoint } from "./endpoint.ts";
import { toDomainError } from "./errors.ts";
import { guarded } from "./guarded-stream.ts";
import { tokenInvalid } from "./interceptors/authenticate.ts";
import { interceptorsFor, type Ports, standingChecks } from "./interceptors/index.ts";
import { methodRule } from "./method-rule.ts";
import { renewScope, scopeOf } from "./scope.ts";

/**
 * One endpoint a method: its interceptors composed around its handler, once, at start.
 *
 * @param stopping ends the streams that flow
 * @throws Error when a method states no permission, or has no handler
 */
export function createEndpoints(
  bindings: readonly ServiceBinding[],
  ports: Ports,
  defaults: { timeoutMs: number; maxBodyBytes: number },
  stopping: AbortSignal,
): Endpoint[] {
  return bindings.flatMap((binding) =>
    binding.service.methods.map((method): Endpoint => {
      const rule = methodRule(method, defaults);
      const handler = binding.handlers[method.localName];
      if (handler === undefined) throw new Error(`method ${rule.path} has no handler`);
      const steps = interceptorsFor(ports, binding, rule);
      const defer = createDeferral();
      // A handler's types follow from the descriptor beside it (authz/service.ts).
      const run = (call: Call, scope: Scope) => handler(call.request as never, scope);
      switch (method.methodKind) {
        case "unary": {
          const work = async (call: Call) =>
            responseOf(method.output, await (run(call, scopeOf(call)) as Promise<object>));
          return { kind: "unary", rule, defer, invoke: compose(steps, work) };
        }
        case "server_streaming": {
          const checks = standingChecks(ports, binding, rule);
          const work = async (call: Call) => {
            const scope = scopeOf(call);
            const opened = run(call, scope) as AsyncIterable<object>;
            const recheck = () => renew(call, scope, checks);
            const gone = scope.signal ?? stopping;
            const told = (cause: unknown) =>
              ports.logger.error(
                { method: rule.path, requestId: call.requestId, err: cause },
                "stream failed",
              );
            const flowing = guarded(opened, { recheck, gone, stopping });
            return responses(method.output, refusing(flowing, call.requestId, told));
          };
          return { kind: "server_streaming", rule, defer, invoke: compose(steps, work) };
        }
        default:
          throw new Error(`method ${rule.path} takes a stream, which no protocol here carries`);
      }
    }),
  );
}

/** Runs the checks of a call anew, and lets its handler see what came of them. */
async function renew(call: Call, scope: Scope, checks: readonly Check[]): Promise<void> {
  const again = newCall(call.rule, call);
  again.request = call.request;
  for (const { check } of checks) await check(again);
  // The host leads to another instance by now, where the caller is nobody.
  if (again.instanceId !== call.instanceId) throw tokenInvalid();
  renewScope(scope, again);
}

/** What a stream fails of, as its client may see it; a failure of ours is told to the operator. */
async function* refusing<M>(
  stream: AsyncIterable<M>,
  requestId: string,
  onInternal: (cause: unknown) => void,
): AsyncIterable<M> {
  try {
    yield* stream;
  } catch (thrown) {
    const error = toDomainError(thrown, requestId);
    if (error.kind === "internal") onInternal(error.cause ?? thrown);
    throw error;
  }
}

async function* responses(
  type: DescMessage,
  answers: AsyncIterable<object>,
): AsyncIterable<Response> {
  for await (const answer of answers) yield responseOf(type, answer);
}
