import { randomUUID } from "node:crypto";
import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind as ApiKind,
  type SpanStatus,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import { hrTime, hrTimeDuration, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import { RandomIdGenerator, type ReadableSpan } from "@opentelemetry/sdk-trace";
import { spanBatches } from "./span-batches.ts";
import type { Attributes, Span, SpanCounts, SpanKind, SpanStart, Tracing } from "./tracing.ts";

/** Which traces are kept: of those that begin here this part; of others as whoever began them says, or not. */
export type Sampling = { ratio: number; followsParent: boolean };

// An end of the process waits no longer for a collector that does not answer.
const longestSendMs = 3_000;
const longestGoodbyeMs = 2_000;
// No attribute is longer, whatever it is made of.
const longestAttribute = 200;
const mostAttributes = 32;

const propagator = new W3CTraceContextPropagator();
const kinds: Record<SpanKind, ApiKind> = {
  server: ApiKind.SERVER,
  client: ApiKind.CLIENT,
  consumer: ApiKind.CONSUMER,
  internal: ApiKind.INTERNAL,
};

/**
 * Tracing by the SDK of OpenTelemetry, over OTLP/HTTP; where to and with which headers the SDK reads from `OTEL_EXPORTER_OTLP_*`.
 * Loaded only where it is on.
 *
 * @param onTrouble told when spans cannot be delivered, once until they can again
 */
export function openTelemetry(
  settings: Sampling & { version: string; timeoutMs: number | undefined },
  onTrouble: (error: unknown) => void,
): Tracing {
  const { ratio } = settings;
  const counts: SpanCounts = { made: 0, delivered: 0, lost: 0 };
  const batches = spanBatches(settings.timeoutMs ?? longestSendMs, counts, onTrouble);
  const sink: Sink = {
    resource: resourceFromAttributes({
      "service.name": "idsvc",
      "service.version": settings.version,
      "service.instance.id": randomUUID(),
    }).merge(
      detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
    ),
    scope: { name: "idsvc", version: settings.version },
    take(span) {
      counts.made += 1;
      batches.add(span);
    },
  };
  return {
    draw: () => ratio === 1 || Math.random() < ratio,
    begin(start, isDrawn, remote) {
      if (remote === undefined) return new OneSpan(sink, start, isDrawn);
      const parent = trace.getSpanContext(propagator.extract(ROOT_CONTEXT, remote, getter));
      // The same trace, of which the part that is here is kept or not, whatever becomes of the rest.
      const decided =
        parent === undefined || settings.followsParent
          ? parent
          : { ...parent, traceFlags: isDrawn ? TraceFlags.SAMPLED : TraceFlags.NONE };
      return new OneSpan(sink, start, isDrawn, decided);
    },
    counts: () => counts,
    async [Symbol.asyncDispose]() {
      await Promise.race([
        batches.shutdown().catch(onTrouble),
        new Promise<void>((resolve) => void setTimeout(resolve, longestGoodbyeMs).unref()),
      ]);
    },
  };
}

const getter = {
  get: (headers: { get(name: string): string | undefined }, name: string) => headers.get(name),
  keys: () => [],
};

/** Where spans that are kept go, and what is the same of all of them. */
type Sink = {
  resource: Resource;
  scope: { name: string; version: string };
  take(span: ReadableSpan): void;
};

const ids = new RandomIdGenerator();
const none: never[] = [];
/** Of a span that a trace begins with. */
const noParent: SpanContext = { traceId: "", spanId: "", traceFlags: TraceFlags.NONE };
const unset: SpanStatus = { code: SpanStatusCode.UNSET };
const failed: SpanStatus = { code: SpanStatusCode.ERROR };

/**
 * A span in the shape in which the SDK sends it, so that nothing is made of it before that: with the spans of the SDK a call that is
 * traced cost the double (decision 0335).
 *
 * Which trace it is a part of is settled when something of it is asked for the first time.
 */
class OneSpan implements Span, ReadableSpan {
  readonly name: string;
  readonly kind: ApiKind;
  attributes: NonNullable<SpanStart["attributes"]>;
  parentSpanContext: SpanContext;
  status = unset;
  readonly links = none;
  readonly events = none;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #sink: Sink;
  readonly #isDrawn: boolean;
  readonly #startMs = performance.now();
  #endMs: number | undefined;
  #context: SpanContext | undefined;

  constructor(sink: Sink, start: SpanStart, isDrawn: boolean, parent = noParent) {
    this.name = start.name;
    this.kind = kinds[start.kind];
    this.attributes = start.attributes ?? {};
    this.parentSpanContext = parent;
    this.#sink = sink;
    this.#isDrawn = isDrawn;
  }

  spanContext(): SpanContext {
    return (this.#context ??= this.#settled());
  }

  #settled(): SpanContext {
    const spanId = ids.generateSpanId();
    const parent = this.parentSpanContext;
    if (parent === noParent) {
      const traceFlags = this.#isDrawn ? TraceFlags.SAMPLED : TraceFlags.NONE;
      return { traceId: ids.generateTraceId(), spanId, traceFlags };
    }
    const { traceId, traceFlags, traceState } = parent;
    return { traceId, spanId, traceFlags, ...(traceState && { traceState }) };
  }

  get traceId(): string {
    return this.spanContext().traceId;
  }
  get isSampled(): boolean {
    return (this.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
  }
  get startTime(): HrTime {
    return hrTime(this.#startMs);
  }
  get endTime(): HrTime {
    return hrTime(this.#endMs);
  }
  get duration(): HrTime {
    return hrTimeDuration(this.startTime, this.endTime);
  }
  get ended(): boolean {
    return this.#endMs !== undefined;
  }
  get resource(): Resource {
    return this.#sink.resource;
  }
  get instrumentationScope(): Sink["scope"] {
    return this.#sink.scope;
  }

  headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    const inside = trace.setSpanContext(ROOT_CONTEXT, this.spanContext());
    propagator.inject(inside, headers, defaultTextMapSetter);
    return headers;
  }
  /** Parts of a span that is not told are not told either: it stands for all of them. */
  child(start: SpanStart): Span {
    return this.isSampled ? new OneSpan(this.#sink, start, true, this.spanContext()) : this;
  }
  note(more: Attributes): void {
    Object.assign(this.attributes, more);
  }
  join(headers: Record<string, string>): void {
    if (this.#context !== undefined) return;
    const from = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    this.parentSpanContext = trace.getSpanContext(from) ?? this.parentSpanContext;
  }
  end(failure?: string): void {
    if (!this.isSampled || this.ended) return;
    this.#endMs = performance.now();
    if (failure !== undefined) {
      this.attributes["error.type"] = failure;
      this.status = failed;
    }
    this.attributes = bounded(this.attributes);
    this.#sink.take(this);
  }
}

/** At most so many attributes, none of them longer than it may be. */
function bounded(attributes: OneSpan["attributes"]): OneSpan["attributes"] {
  let count = 0;
  let longest = 0;
  for (const name in attributes) {
    const value = attributes[name];
    count += 1;
    if (typeof value === "string") longest = Math.max(longest, value.length);
  }
  if (longest <= longestAttribute && count <= mostAttributes) return attributes;
  return Object.fromEntries(
    Object.entries(attributes)
      .slice(0, mostAttributes)
      .map(([name, value]) => [
        name,
        typeof value === "string" ? value.slice(0, longestAttribute) : value,
      ]),
  );
}
