import { DomainError } from "../../errors.ts";
import { callLogger } from "../../telemetry/call-line.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

/** One log line and one measurement a call, whatever its outcome. */
export const telemetry =
  ({ logger, metrics }: Ports): InterceptorFactory =>
  ({ method }) => {
    const service = method.parent.typeName;
    const count = metrics.callsOf(service, method.name);
    const log = callLogger(logger, service, method.name);
    const tell = (call: Call, started: number, failure: DomainError | undefined): void => {
      const ms = performance.now() - started;
      const code = failure?.kind ?? "ok";
      count(code, call.protocol, ms / 1000);
      const line = {
        protocol: call.protocol,
        code,
        ms: Math.round(ms * 1000) / 1000,
        requestId: call.requestId,
        instanceId: call.instanceId,
        caller: call.caller?.kind === "user" ? call.caller.userId : call.caller?.name,
        reason: failure?.reason,
      };
      if (failure?.kind !== "internal") return log(line);
      logger.error({ service, method: method.name, ...line, err: failure.cause }, "call failed");
    };
    return async (call, next) => {
      const started = performance.now();
      try {
        const result = await next();
        tell(call, started, undefined);
        return result;
      } catch (error) {
        tell(call, started, error instanceof DomainError ? error : undefined);
        throw error;
      }
    };
  };
