import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "#gen/grpc/health/v1/health_pb.ts";
import type { Readiness } from "./readiness.ts";

/**
 * Answers health checks for the process, which is the empty name, and for the named services; all share its readiness.
 *
 * Watch sends the status and then every change. A client that reads slowly gets the latest status only, so that nothing
 * piles up for it. A watch ends with the signal of its call, so the router's `shutdownSignal` keeps it from holding up
 * a stop.
 *
 * Source: grpc/health/v1/health.proto; A10.
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
