import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { HrTime } from "@opentelemetry/api";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";

// Of so many values of an attribute the bytes are kept. An attribute that takes more is written anew each time.
const mostValues = 256;

const { Varint, Bit32, Bit64, LengthDelimited } = WireType;

/** Flags of a span: that it is known whether its parent is of another process (0x100), and that it is (0x200). */
const remoteIsKnown = 0x100;
const isRemoteParent = 0x200;

/** Puts spans of one resource and one scope into a request of OTLP (ExportTraceServiceRequest of opentelemetry-proto 1). */
export type SpanEncoder = {
  /** Writes a span at the end of the request. */
  add(span: ReadableSpan): void;
  /** The bytes of the request with all spans since the last one; at least one. */
  finish(): Uint8Array;
};

/**
 * The bytes are those of the serializer of the SDK, which takes two to three times as long, as it writes all names and values
 * anew, and which wants all spans at once, so that they outlive collections of the young generation (decision 0335). Links, events, lists
 * in attributes and texts of a status are left out: no span here has any.
 */
export function spanEncoder(): SpanEncoder {
  const writer = new BinaryWriter();
  const known = new Map<string, Map<unknown, Uint8Array>>();
  const names = new Map<string, Uint8Array>();
  let isOpen = false;
  let shared: { resource: Uint8Array; scope: Uint8Array } | undefined;

  function attribute(name: string, value: unknown): void {
    let values = known.get(name);
    if (values === undefined) known.set(name, (values = new Map()));
    let bytes = values.get(value);
    if (bytes !== undefined) return void writer.raw(bytes);
    if (values.size >= mostValues) return void writeAttribute(writer, name, value);
    bytes = writeAttribute(new BinaryWriter(), name, value).finish();
    values.set(value, bytes);
    writer.raw(bytes);
  }

  function nameField(name: string): Uint8Array {
    const kept = names.get(name);
    if (kept !== undefined) return kept;
    const bytes = new BinaryWriter().tag(5, LengthDelimited).string(name).finish();
    if (names.size < mostValues) names.set(name, bytes);
    return bytes;
  }

  function write(span: ReadableSpan): void {
    const { traceId, spanId, traceState, traceFlags } = span.spanContext();
    const { parentSpanContext: parent, attributes, status } = span;
    writer.tag(2, LengthDelimited).fork();
    writer.tag(1, LengthDelimited).bytes(Buffer.from(traceId, "hex"));
    writer.tag(2, LengthDelimited).bytes(Buffer.from(spanId, "hex"));
    const state = traceState?.serialize();
    if (state) writer.tag(3, LengthDelimited).string(state);
    if (parent?.spanId) writer.tag(4, LengthDelimited).bytes(Buffer.from(parent.spanId, "hex"));
    writer.raw(nameField(span.name));
    writer.tag(6, Varint).uint32(span.kind + 1);
    writeTime(writer.tag(7, Bit64), span.startTime);
    writeTime(writer.tag(8, Bit64), span.endTime);
    for (const name in attributes) attribute(name, attributes[name]);
    // No attribute, event or link was dropped.
    writer.tag(10, Varint).uint32(0).tag(12, Varint).uint32(0).tag(14, Varint).uint32(0);
    writer.tag(15, LengthDelimited).fork().tag(3, Varint).uint32(status.code).join();
    const remote = parent?.isRemote ? isRemoteParent : 0;
    writer.tag(16, Bit32).fixed32(traceFlags | remoteIsKnown | remote);
    writer.join();
  }

  function begin(span: ReadableSpan): void {
    shared ??= sharedBy(span);
    writer.tag(1, LengthDelimited).fork();
    writer.tag(1, LengthDelimited).bytes(shared.resource);
    writer.tag(2, LengthDelimited).fork();
    writer.tag(1, LengthDelimited).bytes(shared.scope);
    isOpen = true;
  }

  return {
    add(span) {
      if (!isOpen) begin(span);
      write(span);
    },
    finish() {
      isOpen = false;
      return writer.join().join().finish();
    },
  };
}

/** A field `attributes` of a span. */
function writeAttribute(writer: BinaryWriter, name: string, value: unknown): BinaryWriter {
  writer.tag(9, LengthDelimited).fork().tag(1, LengthDelimited).string(name);
  writer.tag(2, LengthDelimited).fork();
  if (typeof value === "string") writer.tag(1, LengthDelimited).string(value);
  else if (typeof value === "boolean") writer.tag(2, Varint).bool(value);
  else if (Number.isSafeInteger(value)) writer.tag(3, Varint).int64(Number(value));
  else writer.tag(4, Bit64).double(Number(value));
  return writer.join().join();
}

/** Nanoseconds since the epoch, of which a double holds only the upper 53 bits: as two halves. */
function writeTime(writer: BinaryWriter, [seconds, nanos]: HrTime): void {
  const upper = Math.floor(seconds / 0x1_0000) * 1e9;
  const low = (seconds % 0x1_0000) * 1e9 + (upper % 0x1_0000) * 0x1_0000 + nanos;
  const high = Math.floor(upper / 0x1_0000) + Math.floor(low / 0x1_0000_0000);
  writer.fixed32(low % 0x1_0000_0000).fixed32(high);
}

/** The resource and the scope of a span, as the SDK writes them. */
function sharedBy(span: ReadableSpan): { resource: Uint8Array; scope: Uint8Array } {
  const request = ProtobufTraceSerializer.serializeRequest([span]);
  if (request === undefined) throw new Error("the serializer gives nothing");
  const ofResource = fieldOf(request, 1);
  return { resource: fieldOf(ofResource, 1), scope: fieldOf(fieldOf(ofResource, 2), 1) };
}

/** The first field of that number, of bytes, in a message. */
function fieldOf(message: Uint8Array, wanted: number): Uint8Array {
  const reader = new BinaryReader(message);
  for (;;) {
    const [number, type] = reader.tag();
    if (number === wanted) return reader.bytes();
    reader.skip(type, number);
  }
}
