import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { PassThrough, Readable, type Writable } from "node:stream";
import { bodyTooLarge } from "./refusals.ts";
import type { Awaitable } from "../awaitable.ts";
import { deadlineExceeded, callerGone } from "../errors.ts";
import type { CallHeaders } from "./call.ts";
import { quickMs } from "./deferral.ts";
import {
  depthHeader,
  newRequestId,
  requestIdHeader,
  statedDepth,
} from "../telemetry/request-id.ts";
import { endCoalesced } from "./response-coalescing.ts";
import type { Origin, ResolveOrigin } from "./proxy.ts";

export type Answer = {
  status: number;
  headers: Record<string, string | string[]>;
  /** Text goes out with the head in one write; bytes take a second one. */
  body?: Uint8Array | string;
  /** Sent behind the body; gRPC says there how the call ended. */
  trailers?: Record<string, string>;
};

export type AnswerStream = {
  /** Resolves when the client can take more, or has gone. */
  write(piece: Uint8Array | string): Promise<void>;
  end(trailers?: Record<string, string>): void;
};

/** One HTTP request and its answer, over HTTP/1.1 or HTTP/2 alike. */
export type Exchange = {
  httpMethod: string;
  /** The request target as it came: path, and what stands behind the question mark. Nothing is decoded or resolved. */
  path: string;
  query: string;
  headers: CallHeaders;
  host: string;
  scheme: "http" | "https";
  peer: string;
  /** A trusted proxy has handed it on. */
  isProxied: boolean;
  /** Names the request in the log, and in the header `x-request-id` of every answer. */
  requestId: string;
  /**
   * The body; no promise where there is none.
   * @throws BODY_TOO_LARGE beyond the limit, without reading on
   */
  readBody(limit: number): Awaitable<Uint8Array>;
  /**
   * The body as it comes, of any length, for as long as it keeps coming.
   * @throws CANCELLED when it breaks off, or says nothing for a minute
   */
  openBody(): Readable;
  respond(answer: Answer): void;
  /** Begins an answer of many pieces. */
  stream(status: number, headers: Record<string, string>): AnswerStream;
  /** Called once when the client goes before it has its answer. */
  onGone(listener: () => void): void;
};

const nothing = new Uint8Array();
const longestDiscardMs = 5_000;
const longestSilenceMs = 60_000;
// A body that is read whole: so long, and on as long as it keeps coming at this rate.
const longestBodyMs = 30_000;
const lookAgainMs = 5_000;
const leastBytesPerSecond = 16 * 1024;

export function http1Exchange(
  request: IncomingMessage,
  response: ServerResponse,
  scheme: "http" | "https",
  resolve: ResolveOrigin,
  /** Told of a request that may take as long as it keeps coming: the limit for whole requests is not its. */
  onLongBody: (connection: Socket) => void,
): Exchange {
  const since = performance.now();
  // A target in absolute form says the host, whatever the header says (RFC 9112 section 3.2.2).
  const absolute = /^https?:\/\/([^/?#]+)(.*)$/i.exec(request.url ?? "");
  const { path, query } = splitTarget(
    absolute === null ? (request.url ?? "/") : rooted(absolute[2]),
  );
  const headers = callHeaders(request.headers, request.rawHeaders);
  const host = absolute?.[1] ?? request.headers.host ?? "";
  const seen = { host, scheme, peer: request.socket.remoteAddress ?? "" };
  const origin = resolve(seen, headers);
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  const requestId = newRequestId(statedDepth(headers.get(depthHeader)));
  const hasBody = length !== undefined || coding !== undefined;
  let isRead = !hasBody;
  let ended = false;

  async function read(limit: number): Promise<Uint8Array> {
    if (waitsToSend(headers)) response.writeContinue();
    // A small body comes with its head, which is told of before what stands behind it is looked at.
    await Promise.resolve();
    const size = Number(length);
    const isHere = size <= limit && request.readableLength === size;
    const body: Uint8Array | null = isHere ? request.read() : await readAll(request, length, limit);
    isRead = true;
    return body ?? nothing;
  }

  return {
    host: origin.host,
    scheme: origin.scheme,
    peer: origin.peer,
    isProxied: origin.isProxied === true,
    requestId,
    httpMethod: request.method ?? "GET",
    path,
    query,
    headers,
    readBody: (limit) => (hasBody ? read(limit) : nothing),
    openBody() {
      if (!hasBody) return Readable.from([]);
      onLongBody(request.socket);
      if (waitsToSend(headers)) response.writeContinue();
      return inPieces(request);
    },
    respond({ status, headers: fields, body, trailers }) {
      if (response.headersSent || response.destroyed) return;
      if (!isRead && !request.complete) discardRest(request);
      const bytes = byteLength(body);
      const last =
        trailers === undefined
          ? { "content-length": String(bytes) }
          : { trailer: Object.keys(trailers).join(", ") };
      response.writeHead(status, { ...fields, [requestIdHeader]: requestId, ...last });
      if (trailers !== undefined) response.addTrailers(trailers);
      ended = true;
      const isLate = performance.now() - since > quickMs;
      endCoalesced({ response, body, isAscii: body?.length === bytes, isLate });
    },
    stream(status, fields) {
      response.writeHead(status, { ...fields, [requestIdHeader]: requestId });
      response.flushHeaders();
      return {
        write: (piece) => writeTo(response, piece),
        end(trailers) {
          ended = true;
          if (trailers !== undefined) response.addTrailers(trailers);
          response.end();
        },
      };
    },
    onGone(listener) {
      response.on("close", () => {
        if (!ended) listener();
      });
    },
  };
}

export function http2Exchange(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
  resolve: ResolveOrigin,
): Exchange {
  const { path, query } = splitTarget(String(headers[":path"] ?? "/"));
  const called = callHeaders(headers, rawHeaders);
  const seen: Origin = {
    host: String(headers[":authority"] ?? headers.host ?? ""),
    scheme: headers[":scheme"] === "https" ? "https" : "http",
    peer: stream.session?.socket?.remoteAddress ?? "",
  };
  let ended = false;
  // A stream that is reset emits an error; its end is told by onGone.
  stream.on("error", () => {});
  const origin = resolve(seen, called);
  const requestId = newRequestId(statedDepth(called.get(depthHeader)));
  return {
    host: origin.host,
    scheme: origin.scheme,
    peer: origin.peer,
    isProxied: origin.isProxied === true,
    requestId,
    httpMethod: String(headers[":method"] ?? "GET"),
    path,
    query,
    headers: called,
    readBody(limit) {
      // An empty body in a frame of its own ends the stream, also before anybody has asked for it.
      if (stream.endAfterHeaders || stream.readableEnded) return nothing;
      if (waitsToSend(called)) stream.additionalHeaders({ ":status": 100 });
      return readAll(stream, headers["content-length"], limit);
    },
    openBody() {
      if (waitsToSend(called)) stream.additionalHeaders({ ":status": 100 });
      return inPieces(stream);
    },
    respond({ status, headers: fields, body, trailers }) {
      if (stream.headersSent || stream.destroyed || stream.closed) return;
      ended = true;
      const head = { ":status": status, ...fields, [requestIdHeader]: requestId };
      if (body === undefined || body.length === 0) {
        stream.respond({ ...head, ...trailers }, { endStream: true });
      } else if (trailers === undefined) {
        stream.respond({ ...head, "content-length": String(byteLength(body)) });
        stream.end(body);
      } else {
        stream.respond(head, { waitForTrailers: true });
        stream.once("wantTrailers", () => stream.sendTrailers(trailers));
        stream.end(body);
      }
      // Nobody reads the rest of the request: the client may stop sending (RFC 9113 section 8.1).
      if (!stream.readableEnded) {
        stream.resume();
        stream.once("finish", () => stream.close(constants.NGHTTP2_NO_ERROR));
      }
    },
    stream(status, fields) {
      let last: Record<string, string> | undefined;
      const head = { ":status": status, ...fields, [requestIdHeader]: requestId };
      stream.respond(head, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers(last ?? {}));
      return {
        write: (piece) => writeTo(stream, piece),
        end(trailers) {
          ended = true;
          last = trailers;
          stream.end();
        },
      };
    },
    onGone(listener) {
      stream.on("close", () => {
        if (!ended) listener();
      });
    },
  };
}

// A client that is still sending would lose our answer if the connection were cut at once.
function discardRest(request: IncomingMessage): void {
  const cut = setTimeout(() => request.destroy(), longestDiscardMs).unref();
  request.resume().once("close", () => clearTimeout(cut));
}

function writeTo(target: Writable, piece: Uint8Array | string): Promise<void> {
  if (target.destroyed || target.write(piece)) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      target.off("drain", go).off("close", go);
      resolve();
    };
    target.once("drain", go).once("close", go);
  });
}

/** Whether the client holds its body back until it is asked for it: a refusal spares it the sending. */
export const waitsToSend = (headers: CallHeaders): boolean =>
  headers.get("expect")?.toLowerCase() === "100-continue";

const byteLength = (body: Uint8Array | string | undefined): number =>
  typeof body === "string" ? Buffer.byteLength(body) : (body?.length ?? 0);

const rooted = (rest = ""): string => (rest.startsWith("/") ? rest : `/${rest}`);

function splitTarget(target: string): { path: string; query: string } {
  const at = target.indexOf("?");
  return at === -1
    ? { path: target, query: "" }
    : { path: target.slice(0, at), query: target.slice(at + 1) };
}

function callHeaders(
  headers: Record<string, string | string[] | undefined>,
  raw: readonly string[],
): CallHeaders {
  return {
    get(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
    names: () => Object.keys(headers),
    count(name) {
      let count = 0;
      for (let at = 0; at < raw.length; at += 2) {
        const sent = raw[at];
        if (sent?.length === name.length && sent.toLowerCase() === name) count += 1;
      }
      return count;
    },
  };
}

const brokeOff = (cause: unknown) => callerGone("the request broke off", cause);

const tooLarge = (limit: number) => bodyTooLarge("request body", limit);

const tooSlow = () =>
  deadlineExceeded("BODY_TOO_SLOW", "the request body did not come within 30 seconds", {
    httpStatus: 408,
  });

/** Passes a body on, so that nothing that becomes of the pieces ends the exchange. */
function inPieces(source: IncomingMessage | ServerHttp2Stream): Readable {
  const body = new PassThrough();
  // Who reads it is told. Before anybody does, an error that nobody hears would end the process.
  body.on("error", () => {});
  const breakOff = (cause?: unknown) => {
    if (!body.writableEnded) body.destroy(brokeOff(cause));
  };
  source.setTimeout(longestSilenceMs, breakOff);
  source
    .once("end", () => source.setTimeout(0))
    .once("error", breakOff)
    .once("close", breakOff);
  // Who has gone before the body was wanted is not told of again.
  if (source.destroyed) breakOff();
  source.pipe(body);
  return body;
}

function readAll(
  source: Readable,
  declared: string | undefined,
  limit: number,
): Promise<Uint8Array> {
  if (declared !== undefined && Number(declared) > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // The listeners go with the request: taking them off again would cost more than reading a small body does.
    let isOver = false;
    const began = performance.now();
    const look = () => {
      if (isOver) return;
      const seconds = (performance.now() - began) / 1000;
      if (size / seconds >= leastBytesPerSecond) {
        timer = setTimeout(look, lookAgainMs).unref();
        return;
      }
      isOver = true;
      source.pause();
      reject(tooSlow());
    };
    let timer = setTimeout(look, longestBodyMs).unref();
    const take = (chunk: Buffer) => {
      if (isOver) return;
      size += chunk.length;
      if (size <= limit) return void chunks.push(chunk);
      isOver = true;
      clearTimeout(timer);
      source.pause();
      reject(tooLarge(limit));
    };
    const finish = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size));
    };
    const breakOff = (cause?: unknown) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      reject(brokeOff(cause));
    };
    source.on("data", take).on("end", finish).on("error", breakOff).on("close", breakOff);
    if (source.destroyed) breakOff();
  });
}
