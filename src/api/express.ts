import http2 from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import express, {
  type Express,
  type Request as ExpressRequest,
  type Response as ExpressResponse,
  Router,
} from "express";
import type { Exchange } from "./exchange.ts";
import { allowedMethods, type ServeWeb, type WebEndpoint } from "./web-endpoint.ts";

type NodeHandler = (
  request: IncomingMessage | http2.Http2ServerRequest,
  response: ServerResponse | http2.Http2ServerResponse,
  exchange: Exchange,
  /** Called when no endpoint is there; with the allowed methods when only the method is another. */
  unmatched: (allow: string | undefined) => void,
) => void;

/** Under what a request carries its exchange. A weak map of them would keep them until a whole collection (server.ts). */
const carried = Symbol("exchange");

/**
 * Mounts pages on Express, over HTTP/1.1 and HTTP/2. The only file that knows Express.
 *
 * NOTE: Express sets the prototypes of HTTP/1 on every request; on HTTP/2 that crashes the process. So a second
 * application, whose prototypes are those of HTTP/2, shares the router. Nested applications would undo this: mount
 * routers only.
 */
export function webHandler(endpoints: readonly WebEndpoint[], serve: ServeWeb): NodeHandler {
  const router = Router({ caseSensitive: true, strict: true });
  for (const endpoint of endpoints) {
    const { path, methods } = endpoint;
    const answer = (request: ExpressRequest, _: unknown, next: (error?: unknown) => void) => {
      const exchange: Exchange | undefined = Reflect.get(request, carried);
      if (exchange === undefined) next(new Error("a request without its exchange"));
      else serve(endpoint, exchange).catch(next);
    };
    for (const method of methods) router[method === "GET" ? "get" : "post"](path, answer);
    const allow = allowedMethods(endpoint).join(", ");
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
  return (incoming, outgoing, exchange, unmatched) => {
    Reflect.set(incoming, carried, exchange);
    const chosen = incoming.httpVersionMajor === 2 ? http2App : http1;
    // Express is typed for HTTP/1 only; the prototypes above make it fit for both.
    chosen(incoming as ExpressRequest, outgoing as ExpressResponse, (error?: unknown) => {
      if (error === undefined || typeof error === "string") unmatched(error);
      // A part of the path is no text when its percent-encoding is undone.
      else if (error instanceof URIError) unmatched(undefined);
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
