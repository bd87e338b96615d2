import { dispatcher } from "../../src/api/dispatch.ts";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { listen } from "../../src/api/server.ts";
import { restRoutes } from "../../src/api/transcode/rest.ts";
import type { ServeWeb, WebEndpoint } from "../../src/api/web-endpoint.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";

/** A port of loopback that serves nothing but these. */
export const listenFor = (parts: {
  endpoints?: Endpoint[];
  webEndpoints?: WebEndpoint[];
  serveWeb?: ServeWeb;
}) => {
  const { endpoints = [], webEndpoints = [], serveWeb = async () => {} } = parts;
  return listen({
    host: "127.0.0.1",
    port: 0,
    isShared: false,
    tls: undefined,
    maxConnections: 100,
    resolveOrigin: (seen) => seen,
    mayConnect: () => true,
    logger: silentLogger(),
    ...dispatcher({
      endpoints,
      routes: restRoutes(endpoints),
      webEndpoints,
      serveWeb,
      streamServices: [],
      probes: new Map(),
      crossOrigin: async () => false,
      streams: async () => () => {},
      web: async () => () => {},
    }),
  });
};
