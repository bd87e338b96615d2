import type { DescService } from "@bufbuild/protobuf";
import type { connectNodeAdapter } from "@connectrpc/connect-node";
import { methodNotAllowed, unsupportedMediaType } from "./refusals.ts";
import { type DomainError, invalidField, unimplemented } from "../errors.ts";
import { allowPreflight, type CrossOrigin, isPreflight, openTo } from "./cors.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Answer, Exchange } from "./exchange.ts";
import type { webHandler } from "./express.ts";
import { connectCodec, respondConnectError, serveConnect } from "./rpc/connect.ts";
import { grpcKind, serveGrpc } from "./rpc/grpc.ts";
import { connectStreamCodec, serveConnectStream, serveGrpcStream } from "./rpc/stream.ts";
import type { ServerOptions } from "./server.ts";
import type { Probes } from "./system/readiness.ts";
import { allowedMethods, type ServeWeb, type WebEndpoint } from "./web-endpoint.ts";
import { type RestRoutes, respondRestError, routeError, serveRest } from "./transcode/rest.ts";

type Parts = {
  endpoints: readonly Endpoint[];
  routes: RestRoutes;
  probes: Probes;
  crossOrigin: CrossOrigin;
  /** What machines call, at a path of its own; pages are the router's (`web`). */
  webEndpoints: readonly WebEndpoint[];
  serveWeb: ServeWeb;
  /** Services that Connect's router serves, streams included. */
  streamServices: readonly DescService[];
  /** Both are loaded by the first call that needs them. */
  streams: () => Promise<ReturnType<typeof connectNodeAdapter>>;
  web: () => Promise<ReturnType<typeof webHandler>>;
};

/** Tells the protocols of the one port apart: RPC paths by content type, then REST, then web endpoints. */
export function dispatcher(parts: Parts): Pick<ServerOptions, "serve" | "fallback"> {
  const byPath = new Map(parts.endpoints.map((endpoint) => [endpoint.rule.path, endpoint]));
  const webByPath = new Map(parts.webEndpoints.map((endpoint) => [endpoint.path, endpoint]));
  const served = { routes: parts.routes, byPath, webByPath };
  const prefixes = parts.streamServices.map(({ typeName }) => `/${typeName}/`);
  const isStream = (path: string) => prefixes.some((prefix) => path.startsWith(prefix));

  function serveCall(exchange: Exchange): boolean {
    const { path, httpMethod } = exchange;
    const endpoint = byPath.get(path);
    if (endpoint === undefined && isStream(path)) return false;
    const contentType = exchange.headers.get("content-type") ?? "";
    const grpc = httpMethod === "POST" ? grpcKind(contentType) : undefined;
    if (grpc !== undefined) {
      settle(exchange, serveGrpcCall(endpoint, exchange, grpc, contentType));
      return true;
    }
    if (endpoint !== undefined) {
      serveConnectCall(endpoint, exchange, contentType);
      return true;
    }
    const probe = parts.probes.get(path);
    if (probe !== undefined) {
      serveProbe(exchange, probe);
      return true;
    }
    const web = webByPath.get(path);
    if (web !== undefined) {
      serveWebEndpoint(parts, exchange, web);
      return true;
    }
    const match = parts.routes(httpMethod, path);
    if (match.kind === "found") {
      settle(exchange, serveRest(match, exchange));
      return true;
    }
    if (match.kind === "notFound") return false;
    respondRestError(exchange, routeError(match, exchange));
    return true;
  }

  async function serveCrossOrigin(
    exchange: Exchange,
    origin: string,
    methods: readonly string[],
  ): Promise<void> {
    let isGone = false;
    exchange.onGone(() => (isGone = true));
    const open = webByPath.get(exchange.path)?.crossOrigin === "any";
    // Where this cannot be read, the call itself is refused for it, in its own protocol.
    const isAllowed = open || (await parts.crossOrigin(exchange, origin).catch(() => false));
    if (isGone) return;
    const named = open ? "*" : origin;
    if (isAllowed && isPreflight(exchange)) return allowPreflight(exchange, named, methods);
    serveCall(openTo(exchange, named, isAllowed));
  }

  return {
    serve(exchange) {
      const wrong = wrongHost(exchange, parts.probes.has(exchange.path));
      if (wrong !== undefined) {
        respondRestError(exchange, wrong);
        return true;
      }
      const origin = exchange.headers.get("origin");
      if (origin === undefined) return serveCall(exchange);
      const methods = callsAt(served, exchange.path);
      if (methods.length === 0) return serveCall(exchange);
      settle(exchange, serveCrossOrigin(exchange, origin, methods));
      return true;
    },

    fallback(request, response, exchange) {
      const routed = isStream(exchange.path)
        ? parts.streams().then((serve) => serve(request, response))
        : parts
            .web()
            .then((serve) =>
              serve(request, response, exchange, (allow) => refuseUnmatched(exchange, allow)),
            );
      settle(exchange, routed);
    },
  };
}

type Served = {
  routes: RestRoutes;
  byPath: ReadonlyMap<string, Endpoint>;
  webByPath: ReadonlyMap<string, WebEndpoint>;
};

/** The HTTP methods of the calls at a path; nothing where other things are served, or none. */
function callsAt({ routes, byPath, webByPath }: Served, path: string): readonly string[] {
  if (byPath.has(path)) return ["POST"];
  const web = webByPath.get(path);
  if (web !== undefined) return web.crossOrigin === "none" ? [] : web.methods;
  const match = routes("OPTIONS", path);
  return match.kind === "methodNotAllowed" ? match.allow : [];
}

/** Nothing is there, or nothing by this method. */
function refuseUnmatched(exchange: Exchange, allow: string | undefined): void {
  const match =
    allow === undefined
      ? ({ kind: "notFound" } as const)
      : ({ kind: "methodNotAllowed", allow: allow.split(", ") } as const);
  respondRestError(exchange, routeError(match, exchange));
}

function serveWebEndpoint({ serveWeb }: Parts, exchange: Exchange, endpoint: WebEndpoint): void {
  const method = exchange.httpMethod === "HEAD" ? "GET" : exchange.httpMethod;
  const isServed = endpoint.methods.some((each) => each === method);
  if (isServed) return settle(exchange, serveWeb(endpoint, exchange));
  const match = { kind: "methodNotAllowed" as const, allow: allowedMethods(endpoint) };
  respondRestError(exchange, routeError(match, exchange));
}

/**
 * A request says once which host it is for (RFC 9112 section 3.2, RFC 9113 section 8.3.1): of several, whatever stands before us
 * may have looked at another one.
 */
function wrongHost({ headers, host }: Exchange, isProbe: boolean): DomainError | undefined {
  const authority = headers.get(":authority");
  const count = headers.count("host") + (authority === undefined ? 0 : headers.count(":authority"));
  if (count === 1 || (count === 2 && headers.get("host") === authority)) {
    return undefined;
  }
  if (count > 1) return invalidField("host", "HOST_REPEATED", "the Host header must be sent once");
  // Probes of old load balancers speak HTTP/1.0.
  if (host !== "" || isProbe) return undefined;
  return invalidField("host", "HOST_MISSING", "the Host header must be sent");
}

function serveProbe(exchange: Exchange, probe: () => Answer): void {
  const { httpMethod } = exchange;
  if (httpMethod === "GET" || httpMethod === "HEAD") return exchange.respond(probe());
  const match = { kind: "methodNotAllowed" as const, allow: ["GET", "HEAD"] };
  respondRestError(exchange, routeError(match, exchange));
}

function serveGrpcCall(
  endpoint: Endpoint | undefined,
  exchange: Exchange,
  grpc: NonNullable<ReturnType<typeof grpcKind>>,
  contentType: string,
): Promise<void> {
  if (endpoint?.kind === "server_streaming" && grpc.codec !== undefined) {
    return serveGrpcStream(endpoint, exchange, grpc, grpc.codec);
  }
  const unary = endpoint?.kind === "unary" ? endpoint : undefined;
  return serveGrpc(unary, exchange, grpc, () => unknownMethod(exchange.path, contentType));
}

function serveConnectCall(endpoint: Endpoint, exchange: Exchange, contentType: string): void {
  if (exchange.httpMethod !== "POST") {
    respondConnectError(exchange, methodNotAllowed(exchange, ["POST"]));
    return;
  }
  if (endpoint.kind === "unary") {
    const codec = connectCodec(contentType);
    if (codec !== undefined) return settle(exchange, serveConnect(endpoint, exchange, codec));
  } else {
    const codec = connectStreamCodec(contentType);
    if (codec !== undefined) return settle(exchange, serveConnectStream(endpoint, exchange, codec));
  }
  respondConnectError(exchange, typeNotServed(contentType));
}

// Every protocol answers its own errors; what still comes through is a fault of ours, and the client is told so.
function settle(exchange: Exchange, served: Promise<void>): void {
  served.catch((thrown: unknown) => respondRestError(exchange, thrown));
}

const rpcTypes =
  "application/json, application/proto, application/connect+json, application/connect+proto, application/grpc, application/grpc-web";

const typeNotServed = (contentType: string) =>
  unsupportedMediaType(`content type "${contentType}" is not served here: use one of ${rpcTypes}`, {
    "accept-post": rpcTypes,
  });

const unknownMethod = (path: string, contentType: string) =>
  unimplemented("METHOD_UNKNOWN", `no method ${path} is served as ${contentType}`);
