import { type Response, writtenAs } from "../../authz/response-cache.ts";
import type { DomainError } from "../../errors.ts";
import { callEndpoint, type StreamEndpoint } from "../endpoint.ts";
import { toDomainError } from "../errors.ts";
import type { Exchange } from "../exchange.ts";
import { flowing } from "../flow.ts";
import type { MethodRule } from "../method-rule.ts";
import { type Codec, codecOf } from "./codec.ts";
import { acceptedEncodings } from "./compression.ts";
import { connectError, connectTimeout } from "./connect.ts";
import { frame } from "./frame.ts";
import { errorTrailers, type GrpcKind, grpcTimeout, readUnary, trailerFrame } from "./grpc.ts";

const endOfStreamFlag = 2;
const trailerNames = "grpc-status, grpc-message, grpc-status-details-bin";

/** How a protocol opens a server stream, and how it ends one. */
type Framing = {
  protocol: "grpc" | "grpc-web" | "connect";
  codec: Codec;
  contentType: string;
  /** gRPC-Web text: every piece is base64. */
  text: boolean;
  compressionHeader: string;
  timeoutMs: number | undefined;
  /** The last frame, if the end of the stream travels in the body. */
  endFrame(failure: DomainError | undefined): Uint8Array | undefined;
  trailers(failure: DomainError | undefined): Record<string, string> | undefined;
};

const trailersOf = (failure: DomainError | undefined) =>
  failure === undefined ? { "grpc-status": "0" } : errorTrailers(failure);

/** Serves a server-streaming method over gRPC or gRPC-Web. */
export function serveGrpcStream(
  endpoint: StreamEndpoint,
  exchange: Exchange,
  kind: GrpcKind,
  codec: Codec,
): Promise<void> {
  return serve(endpoint, exchange, () => ({
    protocol: kind.web ? "grpc-web" : "grpc",
    codec,
    contentType: kind.contentType,
    text: kind.text,
    compressionHeader: "grpc-encoding",
    timeoutMs: grpcTimeout(exchange.headers.get("grpc-timeout")),
    endFrame: (failure) => (kind.web ? trailerFrame(trailersOf(failure)) : undefined),
    trailers: (failure) => (kind.web ? undefined : trailersOf(failure)),
  }));
}

/** The codec of a streaming Connect call, by its content type. */
export function connectStreamCodec(contentType: string): Codec | undefined {
  const match = /^application\/connect(\+[a-z]+)(?:;|$)/.exec(contentType);
  return match?.[1] === undefined ? undefined : codecOf(match[1]);
}

/** Serves a server-streaming method over the Connect protocol. */
export function serveConnectStream(
  endpoint: StreamEndpoint,
  exchange: Exchange,
  codec: Codec,
): Promise<void> {
  return serve(endpoint, exchange, () => ({
    protocol: "connect",
    codec,
    contentType: `application/connect+${codec.name}`,
    text: false,
    compressionHeader: "connect-content-encoding",
    timeoutMs: connectTimeout(exchange.headers.get("connect-timeout-ms")),
    endFrame(failure) {
      const end = failure === undefined ? {} : { error: connectError(failure) };
      return frame(Buffer.from(JSON.stringify(end)), endOfStreamFlag);
    },
    trailers: () => undefined,
  }));
}

async function serve(
  endpoint: StreamEndpoint,
  exchange: Exchange,
  prepare: () => Framing,
): Promise<void> {
  const { rule } = endpoint;
  const framing = prepare();
  let opened: { result: AsyncIterable<Response> } | undefined;
  let failure: DomainError | undefined;
  try {
    opened = await callEndpoint(endpoint, exchange, {
      protocol: framing.protocol,
      timeoutMs: framing.timeoutMs,
      decode: async () => {
        const how = { text: framing.text, compressionHeader: framing.compressionHeader };
        return framing.codec.read(rule, await readUnary(exchange, how, rule.maxBodyBytes));
      },
    });
  } catch (thrown) {
    failure = toDomainError(thrown, exchange.requestId);
  }
  const pieces = exchange.stream(200, {
    "content-type": framing.contentType,
    ...(framing.protocol === "connect" ? {} : { "grpc-accept-encoding": acceptedEncodings }),
    ...(framing.protocol === "grpc" ? { trailer: trailerNames } : {}),
  });
  const send = (bytes: Uint8Array) =>
    pieces.write(framing.text ? Buffer.from(bytes).toString("base64") : bytes);
  try {
    if (opened !== undefined) {
      for await (const response of flowing(exchange, opened.result)) {
        await send(framed(framing.codec, rule, response));
      }
    }
  } catch (thrown) {
    failure = toDomainError(thrown, exchange.requestId);
  }
  const last = framing.endFrame(failure);
  if (last !== undefined) await send(last);
  pieces.end(framing.trailers(failure));
}

/** A message in its frame; of one that is sent to many, the frame is made once. */
const framed = (codec: Codec, rule: MethodRule, response: Response): Uint8Array =>
  writtenAs(response, `frame of ${codec.name}`, () => {
    const written = codec.write(rule, response);
    return frame(typeof written === "string" ? Buffer.from(written) : written);
  });
