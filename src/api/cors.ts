import { hostName } from "../authz/host.ts";
import type { InstanceReader, OriginReader } from "../authz/ports.ts";
import { requestIdHeader } from "../telemetry/request-id.ts";
import type { Exchange } from "./exchange.ts";

/** Whether the page that a browser calls from may call the instance of the host, and read what it answers. */
export type CrossOrigin = (exchange: Pick<Exchange, "host">, origin: string) => Promise<boolean>;

// Longer ones cannot be named by an app; they would only fill the cache.
const longestOrigin = 1_000;

/**
 * Cross-origin calls from browsers: an origin that an active app of the instance names, by a redirect or beside these
 * (A3). Cookies count for nothing here, so credentials are never allowed: whoever calls brings a token.
 */
export function crossOrigin(instances: InstanceReader, origins: OriginReader): CrossOrigin {
  return async ({ host }, origin) => {
    if (origin.length > longestOrigin) return false;
    const instance = await instances.byDomain(hostName(host));
    return instance !== undefined && (await origins.isAllowedOrigin(instance.id, origin));
  };
}

/** Whether the browser only asks if it may send the call. */
export const isPreflight = ({ httpMethod, headers }: Exchange): boolean =>
  httpMethod === "OPTIONS" && headers.get("access-control-request-method") !== undefined;

const requestHeaders = [
  "authorization",
  "content-type",
  "content-encoding",
  "x-idsvc-orgid",
  "if-match",
  "connect-protocol-version",
  "connect-timeout-ms",
  "connect-content-encoding",
  "connect-accept-encoding",
  "grpc-timeout",
  "grpc-encoding",
  "grpc-accept-encoding",
  "x-grpc-web",
  "x-user-agent",
].join(", ");
const answerHeaders = [
  "grpc-status",
  "grpc-message",
  "grpc-status-details-bin",
  "grpc-encoding",
  "connect-content-encoding",
  "www-authenticate",
  "retry-after",
  requestIdHeader,
].join(", ");

// Another origin gets another answer at the same address.
const varies = { vary: "origin" };
const preflightSeconds = "600";

/** Tells the browser that it may send the call with these HTTP methods. */
export function allowPreflight(exchange: Exchange, origin: string, methods: readonly string[]) {
  exchange.respond({
    status: 204,
    headers: {
      ...varies,
      "access-control-allow-origin": origin,
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers": requestHeaders,
      "access-control-max-age": preflightSeconds,
    },
  });
}

/** The exchange, whose answers the page may read if its origin is allowed. */
export function openTo(exchange: Exchange, origin: string, isAllowed: boolean): Exchange {
  const more = isAllowed
    ? {
        ...varies,
        "access-control-allow-origin": origin,
        "access-control-expose-headers": answerHeaders,
      }
    : varies;
  return {
    ...exchange,
    respond: (answer) => exchange.respond({ ...answer, headers: { ...answer.headers, ...more } }),
    stream: (status, headers) => exchange.stream(status, { ...headers, ...more }),
  };
}
