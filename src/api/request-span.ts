import { isNearby, sourceOf } from "../authz/source.ts";
import { currentSpan, type Span, type SpanStart, type Tracing } from "../telemetry/tracing.ts";
import type { CallHeaders } from "./call.ts";

type Request = { headers: CallHeaders; peer: string; isProxied: boolean };

/**
 * The span of a request: a part of what is running, else of the trace that the caller names, else the first of its own. Nothing
 * where it would not be kept, which is what most requests cost where a small part of them is.
 *
 * What callers say of traces counts from trusted proxies, this machine and private networks alone: anybody else could have
 * everything traced that they send.
 *
 * @param mayJoin it may turn out later which trace it belongs to
 */
export function requestSpan(
  tracing: Tracing,
  startOf: () => SpanStart,
  request: Request,
  mayJoin: boolean,
): Span | undefined {
  const around = currentSpan();
  if (around !== undefined) return around.child({ ...startOf(), kind: "internal" });
  const remote = believed(request);
  const isDrawn = tracing.draw();
  if (!isDrawn && !mayJoin && remote === undefined) return undefined;
  return tracing.begin(startOf(), isDrawn, remote);
}

function believed({ headers, peer, isProxied }: Request): CallHeaders | undefined {
  if (headers.get("traceparent") === undefined) return undefined;
  return isProxied || isNearby(sourceOf(peer)) ? headers : undefined;
}
