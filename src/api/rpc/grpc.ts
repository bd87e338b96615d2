import { toBinary } from "@bufbuild/protobuf";
import { StatusSchema } from "#gen/google/rpc/status_pb.ts";
import { type DomainError, invalidField } from "../../errors.ts";
import type { CallHeaders } from "../call.ts";
import { toDomainError, toWire } from "../errors.ts";
import { callEndpoint, type UnaryEndpoint } from "../endpoint.ts";
import type { Exchange } from "../exchange.ts";
import { type Codec, codecOf } from "./codec.ts";
import { acceptedEncodings, decompress } from "./compression.ts";
import { frame, frameOverhead, unframe } from "./frame.ts";
import { timeoutMalformed } from "../refusals.ts";

const trailerFlag = 0x80;
const units: Record<string, number> = { n: 1e-6, u: 1e-3, m: 1, S: 1e3, M: 60e3, H: 3600e3 };

/** A content type of gRPC or gRPC-Web, taken apart. */
export type GrpcKind = {
  web: boolean;
  text: boolean;
  codec: Codec | undefined;
  contentType: string;
};

/** Undefined when the content type is of another protocol. */
export function grpcKind(contentType: string): GrpcKind | undefined {
  const match = /^application\/grpc(-web)?(-text)?(\+[a-z]+)?(?:;|$)/.exec(contentType);
  if (match === null || (match[2] !== undefined && match[1] === undefined)) return undefined;
  const [, web, text, suffix = ""] = match;
  return {
    web: web !== undefined,
    text: text !== undefined,
    codec: codecOf(suffix),
    contentType: `application/grpc${web ?? ""}${text ?? ""}${suffix === "" ? "+proto" : suffix}`,
  };
}

/**
 * Serves a unary call over gRPC or gRPC-Web. Streaming methods are served by Connect's router.
 *
 * Source: the gRPC protocol over HTTP/2 and the gRPC-Web protocol.
 */
export async function serveGrpc(
  endpoint: UnaryEndpoint | undefined,
  exchange: Exchange,
  kind: GrpcKind,
  unknown: () => Error,
): Promise<void> {
  try {
    if (endpoint === undefined || kind.codec === undefined) throw unknown();
    const { codec } = kind;
    const how = { text: kind.text, compressionHeader: "grpc-encoding" };
    const { rule } = endpoint;
    const { result } = await callEndpoint(endpoint, exchange, {
      protocol: kind.web ? "grpc-web" : "grpc",
      timeoutMs: grpcTimeout(exchange.headers.get("grpc-timeout")),
      decode: async () => codec.read(rule, await readUnary(exchange, how, rule.maxBodyBytes)),
    });
    const written = codec.write(rule, result);
    const bytes = typeof written === "string" ? Buffer.from(written) : written;
    respond(exchange, kind, bytes, { "grpc-status": "0" });
  } catch (thrown) {
    respond(exchange, kind, undefined, errorTrailers(toDomainError(thrown, exchange.requestId)));
  }
}

/** How a refused call ends. */
export function errorTrailers(error: DomainError): Record<string, string> {
  const status = toWire(error);
  return {
    ...error.headers,
    "grpc-status": String(status.code),
    "grpc-message": percentEncode(status.message),
    "grpc-status-details-bin": Buffer.from(toBinary(StatusSchema, status))
      .toString("base64")
      .replace(/=+$/, ""),
  };
}

// The protocol encodes what is not printable ASCII, and the sign itself; clients decode no more than that.
const percentEncode = (message: string): string =>
  Buffer.from(message, "utf8")
    .toString("latin1")
    .replace(
      /[^\x20-\x24\x26-\x7e]/g,
      (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
    );

/** The one request message of a call, decompressed. */
export async function readUnary(
  exchange: Exchange,
  how: { text: boolean; compressionHeader: string },
  limit: number,
): Promise<Uint8Array> {
  requireBinaryMetadata(exchange.headers);
  const framed = limit + frameOverhead;
  const raw = await exchange.readBody(how.text ? Math.ceil((framed * 4) / 3) + 4 : framed);
  const body = how.text ? Buffer.from(Buffer.from(raw).toString("latin1"), "base64") : raw;
  const { message, compressed } = unframe(body, limit);
  return compressed
    ? decompress(exchange.headers.get(how.compressionHeader) ?? "", message, limit)
    : message;
}

// Metadata whose name ends in -bin is base64, padded or not; several values are joined by commas.
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

function requireBinaryMetadata(headers: CallHeaders): void {
  for (const name of headers.names()) {
    if (!name.endsWith("-bin")) continue;
    const values = (headers.get(name) ?? "").split(",");
    if (values.every((value) => base64.test(value.trim()))) continue;
    throw invalidField(name, "METADATA_MALFORMED", "metadata ending in -bin must be base64");
  }
}

function respond(
  exchange: Exchange,
  kind: GrpcKind,
  message: Uint8Array | undefined,
  trailers: Record<string, string>,
): void {
  const headers = { "content-type": kind.contentType, "grpc-accept-encoding": acceptedEncodings };
  if (!kind.web) {
    // Without a message the trailers travel in the head (Trailers-Only).
    if (message === undefined)
      exchange.respond({ status: 200, headers: { ...headers, ...trailers } });
    else exchange.respond({ status: 200, headers, body: frame(message), trailers });
    return;
  }
  const tail = trailerFrame(trailers);
  const body = message === undefined ? tail : Buffer.concat([frame(message), tail]);
  exchange.respond({
    status: 200,
    headers,
    body: kind.text ? Buffer.from(Buffer.from(body).toString("base64")) : body,
  });
}

/** The trailers of gRPC-Web, which travel in the body. */
export function trailerFrame(trailers: Record<string, string>): Uint8Array {
  const lines = Object.entries(trailers).map(([name, value]) => `${name}: ${value}\r\n`);
  return frame(Buffer.from(lines.join("")), trailerFlag);
}

/** Milliseconds of a `grpc-timeout`; the protocol allows 8 digits and a unit. */
export function grpcTimeout(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const match = /^(\d{1,8})([numSMH])$/.exec(value);
  const unit = units[match?.[2] ?? ""];
  if (match?.[1] === undefined || unit === undefined) {
    throw timeoutMalformed("grpc-timeout must be 1 to 8 digits and one of n u m S M H");
  }
  return Number(match[1]) * unit;
}
