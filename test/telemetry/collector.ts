import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { tracingOf } from "../../src/app/tracing.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import type { Tracing } from "../../src/telemetry/tracing.ts";

/** A span as OTLP carries it, with what tests ask of it. */
export type ToldSpan = {
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  kind: "internal" | "server" | "client" | "consumer";
  attributes: Record<string, string | number | boolean>;
  isError: boolean;
};

export type Collector = AsyncDisposable & {
  url: string;
  spans: ToldSpan[];
  /** Of the service, in each request. */
  resources: Record<string, string | number | boolean>[];
  requests: number;
  /** Answers nothing from now on. */
  hang(): void;
  /** Whether it still owes an answer to somebody who waits for it. */
  isAwaited(): boolean;
  /** Resolves when spans that are wanted are there, and fails after a minute. */
  until(wanted: (spans: readonly ToldSpan[]) => boolean): Promise<void>;
};

/** A collector of traces over OTLP/HTTP. */
export async function startCollector(): Promise<Collector> {
  const held: ServerResponse[] = [];
  let hangs = false;
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    collector.requests += 1;
    if (hangs) return void held.push(response);
    const isTraces = request.url === "/v1/traces" && request.method === "POST";
    if (isTraces) takeRequest(body, collector);
    response.writeHead(isTraces ? 200 : 404, { "content-type": "application/x-protobuf" }).end();
  }
  const server = createServer((request, response) => void take(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    resources: [],
    requests: 0,
    hang: () => void (hangs = true),
    isAwaited: () => held.some(({ destroyed }) => !destroyed),
    async until(wanted) {
      for (let tries = 0; tries < 3_000; tries += 1) {
        if (wanted(collector.spans)) return;
        await delay(20);
      }
      const names = collector.spans.map(({ name, traceId }) => `${traceId} ${name}`);
      throw new Error(`not all spans came:\n${names.join("\n")}`);
    },
    async [Symbol.asyncDispose]() {
      for (const each of held) each.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
  return collector;
}

/** The tracing of a service that sends its spans there. */
export async function tracingTo(url: string, env: Record<string, string> = {}): Promise<Tracing> {
  // The exporter reads where to send from the environment of the process.
  const name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  process.env[name] = `${url}/v1/traces`;
  try {
    const tracing = await tracingOf({ [name]: process.env[name], ...env }, silentLogger());
    if (tracing === undefined) throw new Error("nothing is traced");
    return tracing;
  } finally {
    delete process.env[name];
  }
}

type Field = (number: number, type: WireType, reader: BinaryReader) => boolean;

/** Reads a message: fields that are not taken are skipped. */
function readMessage(bytes: Uint8Array, take: Field): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (!take(number, type, reader)) reader.skip(type, number);
  }
}

/** Fields of messages, or nothing. */
const inner =
  (fields: Record<number, (bytes: Uint8Array) => void>): Field =>
  (number, type, reader) => {
    const field = type === WireType.LengthDelimited ? fields[number] : undefined;
    field?.(reader.bytes());
    return field !== undefined;
  };

function takeRequest(body: Uint8Array, { spans, resources }: Collector): void {
  const takeScope = (bytes: Uint8Array) =>
    readMessage(bytes, inner({ 2: (span) => spans.push(spanOf(span)) }));
  const takeResource = (bytes: Uint8Array) => {
    const attributes: ToldSpan["attributes"] = {};
    readMessage(bytes, inner({ 1: (pair) => takeAttribute(pair, attributes) }));
    resources.push(attributes);
  };
  const takeSpans = (bytes: Uint8Array) =>
    readMessage(bytes, inner({ 1: takeResource, 2: takeScope }));
  readMessage(body, inner({ 1: takeSpans }));
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8");
const kinds = ["internal", "internal", "server", "client", "consumer", "consumer"] as const;

function spanOf(bytes: Uint8Array): ToldSpan {
  const span: ToldSpan = {
    traceId: "",
    spanId: "",
    parentId: "",
    name: "",
    kind: "internal",
    isError: false,
    attributes: {},
  };
  const messages = inner({
    1: (id) => (span.traceId = hex(id)),
    2: (id) => (span.spanId = hex(id)),
    4: (id) => (span.parentId = hex(id)),
    5: (name) => (span.name = textOf(name)),
    9: (pair) => takeAttribute(pair, span.attributes),
    15: (status) =>
      readMessage(status, (number, _, reader) => {
        if (number === 3) span.isError = reader.uint32() === 2;
        return number === 3;
      }),
  });
  readMessage(bytes, (number, type, reader) => {
    if (number !== 6) return messages(number, type, reader);
    span.kind = kinds[reader.uint32()] ?? "internal";
    return true;
  });
  return span;
}

function takeAttribute(bytes: Uint8Array, attributes: ToldSpan["attributes"]): void {
  let name = "";
  let value: string | number | boolean = "";
  const takeValue = (of: Uint8Array) =>
    readMessage(of, (number, _, reader) => {
      if (number === 1) value = reader.string();
      if (number === 2) value = reader.bool();
      if (number === 3) value = Number(reader.int64());
      if (number === 4) value = reader.double();
      return number >= 1 && number <= 4;
    });
  readMessage(bytes, inner({ 1: (key) => (name = textOf(key)), 2: takeValue }));
  attributes[name] = value;
}
