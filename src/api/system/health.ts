import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "#gen/grpc/health/v1/health_pb.ts";
import type { WebEndpoint } from "../express.ts";

/** Whether the process wants traffic, and who must hear of it. */
export type Readiness = {
  isReady(): boolean;
  set(ready: boolean): void;
  /** Calls the listener after each change; the answer ends that. */
  onChange(listener: () => void): () => void;
};

/** A readiness that begins as not ready: traffic comes once the start is done (decisions H4 for the end). */
export function createReadiness(): Readiness {
  let ready = false;
  const listeners = new Set<() => void>();
  return {
    isReady: () => ready,
    set(value) {
      if (value === ready) return;
      ready = value;
      for (const listener of listeners) listener();
    },
    onChange(listener) {
      // Wrapped, so that a function given twice is two listeners.
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

/**
 * Answers health checks for the process, which is the empty name, and for the named services; all share its readiness.
 *
 * Watch sends the status and then every change. A client that reads slowly gets the latest status only, so that nothing
 * piles up for it. A watch ends with the signal of its call, so the router's `shutdownSignal` keeps it from holding up
 * a stop.
 *
 * Source: grpc/health/v1/health.proto; decisions A10.
 * @param serviceNames `<package>.<Service>`
 */
export function registerHealth(
  router: ConnectRouter,
  readiness: Readiness,
  serviceNames: Iterable<string>,
): void {
  const known: ReadonlySet<string> = new Set(["", ...serviceNames]);
  const served = () => (readiness.isReady() ? Status.SERVING : Status.NOT_SERVING);
  router.service(Health, {
    check({ service }) {
      if (!known.has(service)) throw unknownService();
      return { status: served() };
    },
    list: () => ({
      statuses: Object.fromEntries([...known].map((name) => [name, { status: served() }])),
    }),
    async *watch({ service }, { signal }) {
      const statusNow = known.has(service) ? served : () => Status.SERVICE_UNKNOWN;
      for await (const status of changes(readiness, statusNow, signal)) yield { status };
    },
  });
}

/** Liveness and readiness for load balancers: `/healthz` and `/readyz`, and the same below `/debug` (decisions A10). */
export function healthEndpoints(readiness: Readiness): WebEndpoint[] {
  const live = () => answer(200, "text/plain; charset=utf-8", "ok");
  const ready = () => {
    const [code, status] = readiness.isReady() ? [200, "ready"] : [503, "not ready"];
    return answer(code, "application/json", JSON.stringify({ status }));
  };
  return [
    { httpMethod: "GET", path: "/healthz", handle: live },
    { httpMethod: "GET", path: "/debug/healthz", handle: live },
    { httpMethod: "GET", path: "/readyz", handle: ready },
    { httpMethod: "GET", path: "/debug/ready", handle: ready },
  ];
}

function answer(status: number, contentType: string, body: string): Response {
  const headers = { "content-type": contentType, "cache-control": "no-store" };
  return new Response(body, { status, headers });
}

/** Yields the status, and again whenever it differs from the one yielded last, until the signal. */
async function* changes(
  readiness: Readiness,
  statusNow: () => Status,
  signal: AbortSignal,
): AsyncGenerator<Status> {
  let wake = () => {};
  const stopListening = readiness.onChange(() => wake());
  signal.addEventListener("abort", () => wake(), { once: true });
  try {
    let sent: Status | undefined;
    while (!signal.aborted) {
      const status = statusNow();
      if (status === sent) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else {
        sent = status;
        yield status;
      }
    }
  } finally {
    stopListening();
  }
}

// The name came from the caller, so it stays out of the message.
function unknownService(): ConnectError {
  const value = { reason: "HEALTH_SERVICE_NOT_FOUND", domain: "idsvc" };
  return new ConnectError(
    "no such service: leave the name empty, or send the full name of a service that this server has",
    Code.NotFound,
    undefined,
    [{ desc: ErrorInfoSchema, value }],
  );
}
