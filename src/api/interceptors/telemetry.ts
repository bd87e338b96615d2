import { DomainError } from "../../errors.ts";
import type { InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

/** One log line and one measurement a call, whatever its outcome. */
export const telemetry =
  ({ logger, metrics }: Ports): InterceptorFactory =>
  ({ method }) => {
    const service = method.parent.typeName;
    return async (call, next) => {
      const started = performance.now();
      let failure: DomainError | undefined;
      try {
        return await next();
      } catch (error) {
        failure = error instanceof DomainError ? error : undefined;
        throw error;
      } finally {
        const ms = performance.now() - started;
        const code = failure?.kind ?? "ok";
        metrics.rpcCalled({
          service,
          method: method.name,
          code,
          protocol: call.protocol,
          seconds: ms / 1000,
        });
        const line = {
          service,
          method: method.name,
          protocol: call.protocol,
          code,
          ms: Math.round(ms * 1000) / 1000,
          requestId: call.requestId,
          instanceId: call.instanceId,
          caller: call.caller?.kind === "user" ? call.caller.userId : call.caller?.name,
          reason: failure?.reason,
        };
        if (failure?.kind === "internal")
          logger.error({ ...line, err: failure.cause }, "call failed");
        else logger.info(line, "call");
      }
    };
  };
