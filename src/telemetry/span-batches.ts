import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPExporterBase } from "@opentelemetry/otlp-exporter-base";
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from "@opentelemetry/otlp-exporter-base/node-http";
import { type ISerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { spanEncoder } from "./span-encoder.ts";
import type { SpanCounts } from "./tracing.ts";

// Spans that wait to be sent: those beyond are dropped. A batch is sent each second, or when so many are there.
const mostWaiting = 8_192;
const mostTogether = 2_048;
const sendEveryMs = 1_000;

/** Spans in the bytes of a request to a collector. */
type Batch = { bytes: Uint8Array; spans: number };

const serializer: ISerializer<Batch, unknown> = {
  serializeRequest: ({ bytes }) => bytes,
  deserializeResponse: (answer) => ProtobufTraceSerializer.deserializeResponse(answer),
};

/** Spans that have ended, on their way to the collector that the variables of OpenTelemetry name. */
export type SpanBatches = {
  /** Takes a span that has ended, to be sent later; drops it where too many wait. */
  add(span: ReadableSpan): void;
  /** Sends what waits, and takes no more. */
  shutdown(): Promise<void>;
};

/**
 * @param counts of which `delivered` and `lost` are counted here
 * @param onTrouble told when spans cannot be delivered, once until they can again
 */
export function spanBatches(
  timeoutMillis: number,
  counts: SpanCounts,
  onTrouble: (error: unknown) => void,
): SpanBatches {
  const exporter = exporterOf(timeoutMillis);
  // A span is put into bytes when it ends: as objects, those that wait would outlive collections of the young generation.
  let encoder = spanEncoder();
  let open = 0;
  const batches: Batch[] = [];
  let waiting = 0;
  let isWell = true;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  /** What cannot be put into bytes is lost, with what was begun before it, and fails no call that it tells of. */
  function encode(span: ReadableSpan): void {
    waiting += 1;
    open += 1;
    try {
      encoder.add(span);
      if (open === mostTogether) close();
    } catch (error) {
      waiting -= open;
      settle({ code: ExportResultCode.FAILED, error: Object(error) }, open);
      open = 0;
      encoder = spanEncoder();
    }
  }

  function close(): void {
    if (open === 0) return;
    batches.push({ bytes: encoder.finish(), spans: open });
    open = 0;
  }

  function settle({ code, error }: ExportResult, spans: number): void {
    const isDelivered = code === ExportResultCode.SUCCESS;
    counts[isDelivered ? "delivered" : "lost"] += spans;
    if (!isDelivered && isWell) onTrouble(error);
    isWell = isDelivered;
  }

  /** Sends what waits, one batch at a time; what has come meanwhile waits until it is a batch, or for its second. */
  async function send(least: number): Promise<void> {
    do {
      if (batches.length === 0) close();
      const batch = batches.shift();
      if (batch === undefined) break;
      settle(await new Promise<ExportResult>((done) => exporter.export(batch, done)), batch.spans);
      waiting -= batch.spans;
    } while (waiting >= least);
  }
  async function begin(least = mostTogether): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    sending = send(least);
    await sending;
    sending = undefined;
    if (waiting > 0) sendSoon();
  }
  function sendSoon(): void {
    timer ??= setTimeout(() => void begin(), sendEveryMs).unref();
  }

  return {
    add(span) {
      if (waiting >= mostWaiting) {
        counts.lost += 1;
        return;
      }
      encode(span);
      if (sending !== undefined) return;
      if (waiting >= mostTogether) void begin();
      else sendSoon();
    },
    async shutdown() {
      await sending;
      await begin(1);
      await exporter.shutdown();
    },
  };
}

function exporterOf(timeoutMillis: number): OTLPExporterBase<Batch> {
  // oxlint-disable-next-line typescript/no-deprecated -- the exporters of the SDK read their variables by it: there is no other way yet.
  const options = convertLegacyHttpOptions({ timeoutMillis }, "TRACES", "v1/traces", {
    "Content-Type": "application/x-protobuf",
  });
  return new OTLPExporterBase<Batch>(
    createOtlpHttpExportDelegate(
      options,
      serializer,
      "otlp_http_span_exporter",
      { name: "span", countItems: ({ spans }) => spans },
      undefined,
    ),
  );
}
