import type { IncomingMessage, ServerResponse } from "node:http";
import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";
import type { Logger } from "pino";
import { type DomainError, failedPrecondition } from "../errors.ts";
import { sourceOf } from "../authz/source.ts";
import { requestIdHeader } from "../telemetry/request-id.ts";
import type { ResolveOrigin } from "./proxy.ts";
import { type Exchange, http1Exchange, http2Exchange } from "./exchange.ts";

// An import would ask for every export, those too that Node makes when asked: a client of WebSockets, 5 MiB and 50 ms.
const http = process.getBuiltinModule("node:http");

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Bounds of the port (D70 to D80). Times in milliseconds, sizes in bytes. */
const bounds = {
  firstByteMs: 10_000,
  headersMs: 10_000,
  /** How often slow connections are looked for. */
  checkMs: 2_000,
  requestMs: 300_000,
  keepAliveMs: 60_000,
  idleSessionMs: 300_000,
  maxHeaderBytes: 16_384,
  maxHeaderPairs: 100,
  maxStreams: 256,
  sessionMemoryMiB: 16,
  /** Connections that wait to be accepted: where a crowd overruns the usual 511, the system resets some. */
  backlog: 4_096,
};

type NodeRequest = IncomingMessage | http2.Http2ServerRequest;
type NodeResponse = ServerResponse | http2.Http2ServerResponse;

export type ServerOptions = {
  host: string;
  port: number;
  /** Other processes of the service listen there too: the system hands each connection to one of them. */
  isShared: boolean;
  tls: { cert: string | Buffer; key: string | Buffer } | undefined;
  maxConnections: number;
  /** Whether one more connection from this address may be open, beside so many of its source. */
  mayConnect: (address: string, open: number) => boolean;
  resolveOrigin: ResolveOrigin;
  /** Serves the exchange, or says that it belongs to the handlers for Node's own request and response. */
  serve: (exchange: Exchange) => boolean;
  fallback: (request: NodeRequest, response: NodeResponse, exchange: Exchange) => void;
  logger: Logger;
};

export type Listening = {
  port: number;
  /** Stops accepting, finishes what is in flight, and cuts what is left after the time. */
  stop(withinMs: number): Promise<void>;
};

/**
 * One TCP port for HTTP/1.1 and HTTP/2, in clear (by the first bytes) or under TLS (by ALPN).
 * @throws FAILED_PRECONDITION ADDRESS_UNAVAILABLE when the system does not give us the port
 */
export async function listen(options: ServerOptions): Promise<Listening> {
  const { logger } = options;
  const open: Open = {
    sockets: new Map(),
    silent: new Set(),
    sessions: new Set(),
    stopping: false,
  };
  const one = http1Server(options, open);
  const two = http2Server(options, open);
  const server = frontServer(options, open, { one, two });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(unavailableAddress(options, error)));
    const { port, host, isShared: reusePort } = options;
    server.listen({ port, host, reusePort, backlog: bounds.backlog }, resolve);
  });
  server.on("error", (error) => logger.error({ err: error }, "listener failed"));

  const address = server.address();
  return {
    port: address !== null && typeof address === "object" ? address.port : options.port,
    async stop(withinMs) {
      open.stopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      one.closeIdleConnections();
      for (const response of open.sockets.values()) {
        if (response?.headersSent === false) response.setHeader("connection", "close");
      }
      for (const socket of open.silent) socket.destroy();
      for (const session of open.sessions) session.close();
      const cut = setTimeout(() => {
        for (const socket of open.sockets.keys()) socket.destroy();
      }, withinMs);
      await closed;
      clearTimeout(cut);
      // Its timer of connection checks would keep the process alive.
      one.close();
    },
  };
}

/** What is open at the port, and whether it is being closed. */
type Open = {
  /**
   * Every connection, with the answer over HTTP/1.1 that it owes last. Not a set of answers: a table to which something is
   * added for each request is made anew again and again, and an old one that V8 has not collected yet keeps those after it
   * alive, with every request that they held. Each collection of the young then took ten times as long.
   */
  sockets: Map<net.Socket, ServerResponse | undefined>;
  /** Connections that have not said yet which protocol they speak. */
  silent: Set<net.Socket>;
  sessions: Set<http2.ServerHttp2Session>;
  stopping: boolean;
};

function http1Server(options: ServerOptions, open: Open) {
  const { sockets } = open;
  // Connections whose request may take as long as it keeps coming.
  const patient = new WeakSet<object>();
  const one = http.createServer(
    {
      maxHeaderSize: bounds.maxHeaderBytes,
      headersTimeout: bounds.headersMs,
      requestTimeout: bounds.requestMs,
      keepAliveTimeout: bounds.keepAliveMs,
      connectionsCheckingInterval: bounds.checkMs,
      requireHostHeader: false,
      // What has no body by its headers is no stream either: nothing is left of it to be read, ended and closed.
      optimizeEmptyRequests: true,
    },
    serveOne,
  );
  // A body that the client holds back is asked for by whoever reads it, not by Node.
  one.on("checkContinue", serveOne);
  one.maxHeadersCount = bounds.maxHeaderPairs;
  one.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && patient.has(socket)) return;
    refuseMalformed(error, socket);
  });
  // NOTE: a server that does not listen itself starts its time limits only with this event.
  one.emit("listening");

  function serveOne(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const scheme = socket instanceof tls.TLSSocket ? "https" : "http";
    if (sockets.has(socket)) sockets.set(socket, response);
    if (open.stopping) response.setHeader("connection", "close");
    response.on("close", () => {
      if (sockets.get(socket) === response) sockets.set(socket, undefined);
      // A stream that began before the stop has promised to keep its connection.
      if (open.stopping) setImmediate(() => one.closeIdleConnections());
    });
    const { resolveOrigin } = options;
    const exchange = http1Exchange(request, response, scheme, resolveOrigin, (connection) =>
      patient.add(connection),
    );
    dispatch(options, exchange, () => {
      if (request.headers.expect !== undefined) response.writeContinue();
      response.setHeader(requestIdHeader, exchange.requestId);
      return [request, response];
    });
  }
  return one;
}

function http2Server(options: ServerOptions, { sessions }: Open): http2.Http2Server {
  const two = http2.createServer({
    maxHeaderListPairs: bounds.maxHeaderPairs,
    maxSessionMemory: bounds.sessionMemoryMiB,
    settings: {
      maxConcurrentStreams: bounds.maxStreams,
      maxHeaderListSize: bounds.maxHeaderBytes,
      initialWindowSize: 1 << 20,
    },
  });
  two.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => {});
    session.setTimeout(bounds.idleSessionMs, () => session.close());
  });
  two.on("sessionError", () => {});
  two.on("stream", (stream, headers, _flags, rawHeaders) => {
    const exchange = http2Exchange(stream, headers, rawHeaders, options.resolveOrigin);
    dispatch(options, exchange, () => {
      const response = new http2.Http2ServerResponse(stream);
      response.setHeader(requestIdHeader, exchange.requestId);
      return [new http2.Http2ServerRequest(stream, headers, {}, rawHeaders), response];
    });
  });
  return two;
}

function dispatch(
  { serve, fallback, logger }: ServerOptions,
  exchange: Exchange,
  node: () => [NodeRequest, NodeResponse],
): void {
  try {
    if (!serve(exchange)) fallback(...node(), exchange);
  } catch (error) {
    logger.error({ err: error }, "dispatch failed");
    exchange.respond({ status: 500, headers: {} });
  }
}

/** What listens, in clear or under TLS, and hands each connection to the server of its protocol. */
function frontServer(
  options: ServerOptions,
  { sockets, silent }: Open,
  { one, two }: { one: net.Server; two: http2.Http2Server },
): net.Server {
  const accept = acceptor(
    options,
    (socket) => sockets.set(socket, undefined),
    (socket) => {
      sockets.delete(socket);
      silent.delete(socket);
    },
  );
  const server =
    options.tls === undefined
      ? net.createServer({ noDelay: true }, (socket) => {
          if (!accept(socket)) return;
          silent.add(socket);
          sniff(socket, (isTwo) => {
            silent.delete(socket);
            (isTwo ? two : one).emit("connection", socket);
          });
        })
      : tls.createServer(
          {
            ...options.tls,
            ALPNProtocols: ["h2", "http/1.1"],
            minVersion: "TLSv1.2",
            handshakeTimeout: bounds.firstByteMs,
          },
          (socket) => {
            if (!accept(socket)) return;
            (socket.alpnProtocol === "h2" ? two : one).emit("connection", socket);
          },
        );
  server.maxConnections = options.maxConnections;
  if (options.tls !== undefined)
    server.on("tlsClientError", (_: Error, socket: tls.TLSSocket) => socket.destroy());
  return server;
}

/** Says of each connection whether it may stay; otherwise it is closed. */
function acceptor(
  options: Pick<ServerOptions, "mayConnect">,
  opened: (socket: net.Socket) => void,
  closed: (socket: net.Socket) => void,
) {
  const perSource = new Map<string, number>();
  return (socket: net.Socket): boolean => {
    socket.on("error", () => {});
    const address = socket.remoteAddress ?? "";
    const source = sourceOf(address);
    const others = perSource.get(source) ?? 0;
    if (!options.mayConnect(address, others)) {
      socket.destroy();
      return false;
    }
    perSource.set(source, others + 1);
    opened(socket);
    socket.once("close", () => {
      const left = (perSource.get(source) ?? 1) - 1;
      if (left === 0) perSource.delete(source);
      else perSource.set(source, left);
      closed(socket);
    });
    return true;
  };
}

/**
 * What an operator can do about an address that the system does not give.
 *
 * @param portOption the option that chose the port
 */
export function whyUnavailable(cause: NodeJS.ErrnoException, portOption: string): string {
  const explained: Record<string, string> = {
    EADDRINUSE: `something else listens there: stop it, or choose another port (${portOption})`,
    EACCES: `the system keeps this port for others: choose one from 1024 on (${portOption})`,
    EADDRNOTAVAIL: "this machine has no such address (IDSVC_HOST)",
    ENOTFOUND: "nobody knows this name (IDSVC_HOST)",
  };
  return explained[cause.code ?? ""] ?? cause.message;
}

export function unavailableAddress(
  { host, port }: Pick<ServerOptions, "host" | "port">,
  cause: NodeJS.ErrnoException,
): DomainError {
  const text = `cannot listen on ${host}:${port}: ${whyUnavailable(cause, "IDSVC_PORT")}`;
  return failedPrecondition("ADDRESS_UNAVAILABLE", text, { cause });
}

/** Looks at the first bytes of a clear connection: HTTP/2 with prior knowledge begins with its preface. */
function sniff(socket: net.Socket, decide: (isTwo: boolean) => void): void {
  // Timers come before what has arrived: a busy server looks once more before it takes its own lateness for the peer's.
  let lastLook: NodeJS.Immediate | undefined;
  const giveUp = setTimeout(() => {
    lastLook = setImmediate(() => socket.destroy());
  }, bounds.firstByteMs);
  const stay = () => {
    clearTimeout(giveUp);
    clearImmediate(lastLook);
  };
  socket.once("close", stay);
  // Kept here until it tells: bytes that were put back would be readable again at once, for ever.
  let seen = Buffer.alloc(0);
  const peek = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return void socket.once("readable", peek);
    seen = Buffer.concat([seen, chunk]);
    const length = Math.min(seen.length, preface.length);
    const isTwo = seen.subarray(0, length).equals(preface.subarray(0, length));
    // "P" alone can still become "POST".
    if (isTwo && length < preface.length) return void socket.once("readable", peek);
    stay();
    socket.unshift(seen);
    decide(isTwo);
  };
  socket.once("readable", peek);
}

// What is no HTTP request has no exchange: the shortest honest answer, then the end.
function refuseMalformed(error: NodeJS.ErrnoException, socket: import("node:stream").Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const status =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "408 Request Timeout"
        : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
