import { isNearby, sourceOf } from "../authz/source.ts";
import { currentSpan, type Span, type SpanStart, type Tracing } from "../telemetry/tracing.ts";
import type { CallHeaders } from "./call.ts";

type Request = { headers: CallHeaders; peer: string; isProxied: boolean };

/**
 * The span of a request: a part of what is running, else of the trace that the caller names, else the first of its own.
 *
 * What callers say of traces counts from trusted proxies, this machine and private networks alone: anybody else could have
 * everything traced that they send.
 */
export function requestSpan(
  tracing: Tracing,
  start: SpanStart,
  { headers, peer, isProxied }: Request,
): Span {
  const around = currentSpan();
  if (around !== undefined) return around.child({ ...start, kind: "internal" });
  return isProxied || isNearby(sourceOf(peer))
    ? tracing.begin(start, headers)
    : tracing.begin(start);
}
