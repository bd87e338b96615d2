import { randomUUID } from "node:crypto";
import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span as ApiSpan,
  SpanKind as ApiKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api";
import { ExportResultCode, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
  RandomIdGenerator,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Attributes, Span, SpanCounts, SpanKind, SpanStart, Tracing } from "./tracing.ts";

/** Which traces are kept: of those that begin here this part; of others as whoever began them says, or not. */
export type Sampling = { ratio: number; followsParent: boolean };

// Spans that wait to be sent: those beyond are dropped. A batch is sent each second, or when so many are there.
const mostWaiting = 2_048;
const mostTogether = 512;
const sendEveryMs = 1_000;
// An end of the process waits no longer for a collector that does not answer.
const longestSendMs = 3_000;
const longestGoodbyeMs = 2_000;
// No attribute is longer, whatever it is made of.
const limits = { attributeValueLengthLimit: 200, attributeCountLimit: 32, linkCountLimit: 4 };

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
  const exporter = watched(
    new OTLPTraceExporter({ timeoutMillis: settings.timeoutMs ?? longestSendMs }),
    counts,
    onTrouble,
  );
  const batches = new BatchSpanProcessor({
    exporter,
    maxQueueSize: mostWaiting,
    maxExportBatchSize: mostTogether,
    scheduledDelayMillis: sendEveryMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "idsvc",
      "service.version": settings.version,
      "service.instance.id": randomUUID(),
    }).merge(
      detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }),
    ),
    // What was not drawn does not come here.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanLimits: limits,
    spanProcessors: [counting(counts), batches],
  });
  const tracer = provider.getTracer("idsvc", settings.version);
  return {
    draw: () => ratio === 1 || Math.random() < ratio,
    begin(start, isDrawn, remote) {
      if (remote === undefined) return openSpan(tracer, start, ROOT_CONTEXT, isDrawn);
      const from = propagator.extract(ROOT_CONTEXT, remote, getter);
      const decided = settings.followsParent ? from : keptIn(from, isDrawn);
      return openSpan(tracer, start, decided, isDrawn);
    },
    counts: () => counts,
    async [Symbol.asyncDispose]() {
      await Promise.race([
        provider.shutdown().catch(onTrouble),
        new Promise<void>((resolve) => void setTimeout(resolve, longestGoodbyeMs).unref()),
      ]);
    },
  };
}

const getter = {
  get: (headers: { get(name: string): string | undefined }, name: string) => headers.get(name),
  keys: () => [],
};

/** The same trace, of which the part that is here is kept or not, whatever becomes of the rest. */
function keptIn(from: Context, isKept: boolean): Context {
  const remote = trace.getSpanContext(from);
  if (remote === undefined) return from;
  const traceFlags = isKept ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(from, { ...remote, traceFlags });
}

/**
 * The span of the SDK is made when something of it is asked for the first time: until then it may turn out which trace it
 * is a part of.
 */
function openSpan(
  tracer: Tracer,
  { name, kind, attributes }: SpanStart,
  parent: Context,
  isDrawn: boolean,
): Span {
  const startTime = performance.now();
  let noted = attributes ?? {};
  let from = parent;
  let made: ApiSpan | undefined;

  const make = (): ApiSpan =>
    isDrawn || trace.getSpan(from) !== undefined
      ? tracer.startSpan(name, { kind: kinds[kind], startTime, attributes: noted }, from)
      : untoldSpan();
  const span = (): ApiSpan => (made ??= make());
  const isSampled = () => (span().spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
  const inside = () => trace.setSpan(ROOT_CONTEXT, span());

  const self: Span = {
    get traceId() {
      return span().spanContext().traceId;
    },
    get isSampled() {
      return isSampled();
    },
    headers() {
      const headers: Record<string, string> = {};
      propagator.inject(inside(), headers, defaultTextMapSetter);
      return headers;
    },
    child: (start) => (isSampled() ? openSpan(tracer, start, inside(), true) : untold(self)),
    note(more: Attributes) {
      if (made === undefined) noted = { ...noted, ...more };
      else made.setAttributes(more);
    },
    join(headers) {
      if (made === undefined) from = propagator.extract(from, headers, defaultTextMapGetter);
    },
    end(failure) {
      if (failure !== undefined) {
        span().setAttribute("error.type", failure).setStatus({ code: SpanStatusCode.ERROR });
      }
      span().end(performance.now());
    },
  };
  return self;
}

const ids = new RandomIdGenerator();

const untoldSpan = (): ApiSpan =>
  trace.wrapSpanContext({
    ...{ traceId: ids.generateTraceId(), spanId: ids.generateSpanId() },
    traceFlags: TraceFlags.NONE,
  });

/** Parts of a span that is not told are not told either: one stands for all of them. */
function untold({ traceId, headers }: Span): Span {
  const self: Span = {
    ...{ traceId, headers, isSampled: false },
    child: () => self,
    note() {},
    join() {},
    end() {},
  };
  return self;
}

/** Counts the spans that are told. */
const counting = (counts: SpanCounts): SpanProcessor => ({
  onStart() {},
  onEnd() {
    counts.made += 1;
  },
  forceFlush: async () => {},
  shutdown: async () => {},
});

/** An exporter that counts what becomes of spans, and tells once of trouble until there is none. */
function watched(
  exporter: SpanExporter,
  counts: SpanCounts,
  onTrouble: (error: unknown) => void,
): SpanExporter {
  let isWell = true;
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        const isDelivered = result.code === ExportResultCode.SUCCESS;
        counts[isDelivered ? "delivered" : "lost"] += spans.length;
        if (!isDelivered && isWell) onTrouble(result.error);
        isWell = isDelivered;
        // What is lost is told here; the processor would throw it where nobody hears.
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
