import http2 from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import express, {
  type Express,
  type Request as ExpressRequest,
  type Response as ExpressResponse,
  Router,
} from "express";

/** A page or endpoint that is not RPC, as the web standards see it. */
export type WebEndpoint = {
  httpMethod: "GET" | "POST";
  path: string;
  handle: (request: Request) => Response | Promise<Response>;
};

type NodeHandler = (
  request: IncomingMessage | http2.Http2ServerRequest,
  response: ServerResponse | http2.Http2ServerResponse,
  /** Called when no endpoint is there; with the allowed methods when only the method is another. */
  unmatched: (allow: string | undefined) => void,
) => void;

/**
 * Mounts web endpoints on Express, over HTTP/1.1 and HTTP/2. The only file that knows Express.
 *
 * NOTE: Express sets the prototypes of HTTP/1 on every request; on HTTP/2 that crashes the process. So a second
 * application, whose prototypes are those of HTTP/2, shares the router. Nested applications would undo this: mount
 * routers only.
 */
export function webHandler(endpoints: readonly WebEndpoint[]): NodeHandler {
  const router = Router({ caseSensitive: true, strict: true });
  const methods = new Map<string, Set<string>>();
  for (const { httpMethod, path, handle } of endpoints) {
    methods.set(path, (methods.get(path) ?? new Set()).add(httpMethod));
    router[httpMethod === "GET" ? "get" : "post"](path, async (request, response) => {
      const answer = await handle(toWebRequest(request));
      response.status(answer.status);
      for (const [name, value] of answer.headers) response.append(name, value);
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  }
  for (const [path, allowed] of methods) {
    const allow = [...allowed, ...(allowed.has("GET") ? ["HEAD"] : [])].sort().join(", ");
    router.all(path, (_, __, next) => next(allow));
  }
  const http1 = application(router);
  const http2App = application(router);
  const own = Object.getOwnPropertyDescriptors;
  const app = { app: { value: http2App, configurable: true, writable: true } };
  const request = Object.create(http2.Http2ServerRequest.prototype, own(express.request));
  const response = Object.create(http2.Http2ServerResponse.prototype, own(express.response));
  http2App.request = Object.create(request, app);
  http2App.response = Object.create(response, app);
  return (incoming, outgoing, unmatched) => {
    const chosen = incoming.httpVersionMajor === 2 ? http2App : http1;
    // Express is typed for HTTP/1 only; the prototypes above make it fit for both.
    chosen(incoming as ExpressRequest, outgoing as ExpressResponse, (error?: unknown) => {
      if (error === undefined || typeof error === "string") unmatched(error);
      else if (!outgoing.headersSent) (outgoing as ServerResponse).writeHead(500).end();
    });
  };
}

function application(router: Router): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.use(router);
  return app;
}

function toWebRequest(request: ExpressRequest): Request {
  const host = request.headers[":authority"] ?? request.headers.host ?? "";
  const url = new URL(request.url, `${request.protocol}://${String(host)}`);
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  const { method } = request;
  if (method === "GET" || method === "HEAD") return new Request(url, { method, headers });
  const body = Readable.toWeb(request) as ReadableStream<Uint8Array>;
  return new Request(url, { method, headers, body, duplex: "half" } as RequestInit);
}
