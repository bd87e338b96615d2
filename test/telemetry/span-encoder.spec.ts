// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { TraceState } from "@opentelemetry/core";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import fc from "fast-check";
import { spanEncoder } from "../../src/telemetry/span-encoder.ts";

const resource = resourceFromAttributes({ "service.name": "idsvc", replicas: 3, isTest: true });
const instrumentationScope = { name: "idsvc", version: "1.2.3" };

const digits = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => Buffer.from(bytes).toString("hex"));
const context = fc.record({
  traceId: digits(16),
  spanId: digits(8),
  traceFlags: fc.constantFrom(TraceFlags.NONE, TraceFlags.SAMPLED),
});
const traceState = fc.constantFrom(undefined, new TraceState("vendor=t61rcWkgMzE"));
const parent = fc.oneof(
  fc.constant({ traceId: "", spanId: "", traceFlags: TraceFlags.NONE }),
  context,
  context.map((one) => ({ ...one, isRemote: true })),
);
const time = fc.tuple(fc.nat(4_294_967_295), fc.nat(999_999_999));
const value = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.double({ noInteger: true }),
);
const span = fc
  .record({
    name: fc.string({ maxLength: 80 }),
    kind: fc.constantFrom(
      SpanKind.INTERNAL,
      SpanKind.SERVER,
      SpanKind.CLIENT,
      SpanKind.PRODUCER,
      SpanKind.CONSUMER,
    ),
    context,
    traceState,
    parentSpanContext: parent,
    startTime: time,
    endTime: time,
    attributes: fc.dictionary(fc.string({ minLength: 1, maxLength: 40 }), value, {
      noNullPrototype: true,
      maxKeys: 32,
    }),
    code: fc.constantFrom(SpanStatusCode.UNSET, SpanStatusCode.OK, SpanStatusCode.ERROR),
  })
  .map(({ context: own, traceState: state, code, ...rest }): ReadableSpan => {
    const spanContext = { ...own, ...(state !== undefined && { traceState: state }) };
    return {
      ...rest,
      spanContext: () => spanContext,
      status: { code },
      resource,
      instrumentationScope,
      duration: [0, 0],
      ended: true,
      links: [],
      events: [],
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  });

/** The bytes that the SDK makes of spans. */
const bySdk = (spans: ReadableSpan[]) =>
  Buffer.from(ProtobufTraceSerializer.serializeRequest(spans) ?? []).toString("hex");

describe("the bytes of spans", () => {
  it("are those of the SDK", () => {
    const encoder = spanEncoder();
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 8 }), (spans) => {
        for (const each of spans) encoder.add(each);
        assert.equal(Buffer.from(encoder.finish()).toString("hex"), bySdk(spans));
      }),
    );
  });

  it("are those of the SDK for more values of an attribute than are kept", () => {
    const encoder = spanEncoder();
    const [first] = fc.sample(span, 1);
    assert.ok(first !== undefined);
    const spans = Array.from({ length: 2_000 }, (_, at) => ({
      ...first,
      attributes: { "idsvc.request_id": `request ${at}`, "idsvc.code": "ok" },
    }));
    for (const each of spans) encoder.add(each);
    assert.equal(Buffer.from(encoder.finish()).toString("hex"), bySdk(spans));
  });
});
