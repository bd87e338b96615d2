import { hash } from "node:crypto";
import { createServer } from "node:http";
import { whyUnavailable } from "../api/server.ts";
import type { WebAnswer, WebEndpoint } from "../api/web-endpoint.ts";
import { equalInConstantTime } from "../crypto/digests.ts";
import { failedPrecondition } from "../errors.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { takesOpenMetrics } from "../telemetry/open-metrics.ts";
import type { Config } from "./config.ts";

type Settings = Pick<Config, "host" | "metricsPort" | "metricsToken">;

const document = { methods: ["GET"], crossOrigin: "none", anyHost: true } as const;

/**
 * `/metrics` on the one port. Counts of calls, events and work tell of tenants: they need the token, or are on a port of their own;
 * everybody is told of the process alone (J13).
 */
export function metricsEndpoint(metrics: Metrics, settings: Settings): WebEndpoint {
  return {
    ...document,
    path: "/metrics",
    handle: ({ headers }) => {
      const [authorization, accept] = ["authorization", "accept"].map(
        (name) => headers.get(name) ?? undefined,
      );
      return answerTo(metrics, settings, { authorization, accept }, false);
    },
  };
}

/**
 * Serves `/metrics` with everything in it on a port of its own, where one is configured.
 *
 * @param isShared other processes of the service listen there too
 * @throws FAILED_PRECONDITION METRICS_PORT_UNAVAILABLE
 */
export async function listenForMetrics(
  metrics: Metrics,
  settings: Settings,
  isShared: boolean,
): Promise<AsyncDisposable & { port: number | undefined }> {
  const { host, metricsPort } = settings;
  if (metricsPort === undefined) return { port: undefined, [Symbol.asyncDispose]: async () => {} };
  const server = createServer((request, response) => {
    const isAsked = request.method === "GET" && request.url?.split("?", 1)[0] === "/metrics";
    const asked = isAsked
      ? answerTo(metrics, settings, request.headers, true)
      : Promise.resolve({ status: 404, headers: {}, body: "" });
    asked.then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const why = whyUnavailable(cause, "IDSVC_METRICS_PORT");
      const text = `cannot listen for metrics on ${host}:${metricsPort}: ${why}`;
      reject(failedPrecondition("METRICS_PORT_UNAVAILABLE", text, { cause }));
    });
    server.listen({ port: metricsPort, host, reusePort: isShared }, resolve);
  });
  const address = server.address();
  return {
    port: address !== null && typeof address === "object" ? address.port : metricsPort,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** @param isOwnPort nobody but those who run the service reach it: without a token they are told everything */
async function answerTo(
  metrics: Metrics,
  { metricsToken }: Settings,
  { authorization, accept }: { authorization?: string | undefined; accept?: string | undefined },
  isOwnPort: boolean,
): Promise<WebAnswer> {
  const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
  const isRight = given !== undefined && metricsToken !== undefined && isSame(given, metricsToken);
  const mustProve = isOwnPort ? metricsToken !== undefined : authorization !== undefined;
  if (mustProve && !isRight) {
    const headers = { "www-authenticate": "Bearer", "content-type": "text/plain; charset=utf-8" };
    const body = "the token is not that of IDSVC_METRICS_TOKEN\n";
    return { status: 401, headers, body, isUnproven: true };
  }
  const what = isRight || isOwnPort ? "all" : "process";
  const format = takesOpenMetrics(accept) ? "openmetrics" : "prometheus";
  const { contentType, body } = await metrics.render(what, format);
  return { status: 200, headers: { "content-type": contentType }, body };
}

// Digests, so that not even the length is told.
const isSame = (one: string, other: string): boolean =>
  equalInConstantTime(hash("sha256", one, "buffer"), hash("sha256", other, "buffer"));
