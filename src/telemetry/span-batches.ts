import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { OTLPExporterBase } from "@opentelemetry/otlp-exporter-base";
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from "@opentelemetry/otlp-exporter-base/node-http";
import { type ISerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { SpanCounts } from "./tracing.ts";

// Spans that wait to be sent: those beyond are dropped. A batch is sent each second, or when so many are there.
const mostWaiting = 8_192;
const mostTogether = 2_048;
const sendEveryMs = 1_000;
// So many spans are put into bytes together, soon after they have ended: objects that wait for a whole batch outlive two
// collections of the young generation, and collecting those cost as much as putting them into bytes (decision 0335).
const spansAPart = 32;

/** Spans in the bytes of a request to a collector. */
type Part = { bytes: Uint8Array; spans: number };

/** Requests of OTLP one after the other are one request with the spans of all: their only field is repeated. */
const joined: ISerializer<Part[], unknown> = {
  serializeRequest: (parts) => Buffer.concat(parts.map(({ bytes }) => bytes)),
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
  let open: ReadableSpan[] = [];
  const parts: Part[] = [];
  let waiting = 0;
  let isWell = true;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  /** Puts what is open into bytes. What cannot be is lost, and fails no call that it tells of. */
  function close(): void {
    const spans = open.length;
    if (spans === 0) return;
    try {
      const bytes = ProtobufTraceSerializer.serializeRequest(open);
      if (bytes === undefined) throw new Error("the serializer gives nothing");
      parts.push({ bytes, spans });
    } catch (error) {
      waiting -= spans;
      settle({ code: ExportResultCode.FAILED, error: Object(error) }, spans);
    }
    open = [];
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
      close();
      const batch = parts.splice(0, mostTogether / spansAPart);
      const spans = spansOf(batch);
      if (spans === 0) break;
      settle(await new Promise<ExportResult>((done) => exporter.export(batch, done)), spans);
      waiting -= spans;
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
      open.push(span);
      waiting += 1;
      if (open.length === spansAPart) close();
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

const spansOf = (parts: readonly Part[]): number =>
  parts.reduce((sum, { spans }) => sum + spans, 0);

function exporterOf(timeoutMillis: number): OTLPExporterBase<Part[]> {
  // oxlint-disable-next-line typescript/no-deprecated -- the exporters of the SDK read their variables by it: there is no other way yet.
  const options = convertLegacyHttpOptions({ timeoutMillis }, "TRACES", "v1/traces", {
    "Content-Type": "application/x-protobuf",
  });
  return new OTLPExporterBase<Part[]>(
    createOtlpHttpExportDelegate(
      options,
      joined,
      "otlp_http_span_exporter",
      { name: "span", countItems: spansOf },
      undefined,
    ),
  );
}
