import { editorOf } from "../../authz/context.ts";
import type { NoteRefusal } from "../../authz/ports.ts";
import { presenceAs, presenceOf, whereOf } from "../../authz/presence.ts";
import { DomainError } from "../../errors.ts";
import { callLogger } from "../../telemetry/call-line.ts";
import { type Span, type SpanStart, within } from "../../telemetry/tracing.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import { requestSpan } from "../request-span.ts";
import type { Ports } from "./index.ts";

/** One log line, one measurement and, where there is tracing, one span a call, whatever its outcome. */
export const telemetry =
  ({ logger, metrics, tracing, showAddress, noteRefusal }: Ports): InterceptorFactory =>
  ({ method, path }) => {
    const service = method.parent.typeName;
    const count = metrics.callsOf(service, method.name);
    const log = callLogger(logger, service, method.name);
    const tell = (
      call: Call,
      started: number,
      failure: DomainError | undefined,
      span: Span | undefined,
    ): void => {
      const ms = performance.now() - started;
      const code = failure?.kind ?? "ok";
      count(code, call.protocol, ms / 1000, span);
      span?.note({ "idsvc.code": code, "idsvc.instance_id": call.instanceId });
      const line = {
        protocol: call.protocol,
        code,
        ms: Math.round(ms * 1000) / 1000,
        requestId: call.requestId,
        traceId: span?.traceId,
        instanceId: call.instanceId,
        caller: call.caller?.kind === "user" ? call.caller.userId : call.caller?.name,
        clientAddress: showAddress(call.peer),
        reason: failure?.reason,
      };
      if (failure !== undefined) note(noteRefusal, path, call, failure);
      if (failure?.kind !== "internal") return log(line);
      logger.error(
        { rpcService: service, method: method.name, ...line, err: failure.cause },
        "call failed",
      );
    };
    const run = async <R>(call: Call, next: () => Promise<R>, span?: Span): Promise<R> => {
      const started = performance.now();
      try {
        const result = await next();
        tell(call, started, undefined, span);
        return result;
      } catch (error) {
        tell(call, started, error instanceof DomainError ? error : undefined, span);
        throw error;
      }
    };
    if (tracing === undefined) return (call, next) => run(call, next);
    const name = `${service}/${method.name}`;
    return (call, next) => {
      const start = (): SpanStart => {
        const { protocol, requestId } = call;
        const attributes = {
          "rpc.method": name,
          "idsvc.protocol": protocol,
          "idsvc.request_id": requestId,
        };
        return { name, kind: "server", attributes };
      };
      const span = requestSpan(tracing, start, call, false);
      return span === undefined ? run(call, next) : within(span, () => run(call, next, span));
    };
  };

/**
 * What somebody who is known may not do is kept, with where it came from (J15); and what came too often, whoever asked.
 */
function note(
  noteRefusal: NoteRefusal,
  operation: string,
  { caller, instanceId, peer, headers }: Call,
  { kind, reason }: DomainError,
) {
  const isTooOften = kind === "resourceExhausted" && tooOften.has(reason);
  if (!isTooOften && (kind !== "permissionDenied" || caller === undefined)) return;
  if (instanceId === "") return;
  const of = caller?.kind === "user" ? caller : undefined;
  const where = whereOf(peer, headers);
  noteRefusal({
    instanceId,
    kind: "call",
    reason,
    operation,
    ...(caller === undefined ? {} : { userId: editorOf(caller) }),
    clientId: of?.clientId,
    organizationId: of?.organizationId,
    presence: caller === undefined ? presenceAs(where, {}) : presenceOf(where, caller),
  });
}

// Those that are answered with 429.
const tooOften: ReadonlySet<string> = new Set([
  "RATE_LIMITED",
  "BUDGET_SPENT",
  "FOLLOWERS_TOO_MANY",
]);
