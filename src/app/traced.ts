import type { EgressClient } from "../egress/client.ts";
import type { Projecting } from "../eventstore/transaction.ts";
import type { JobHandlers } from "../jobs/job.ts";
import type { Database } from "../storage/database.ts";
import { isTraced, traced, type Tracing, within } from "../telemetry/tracing.ts";

const mostTypes = 5;

/** The same store, each commit of which is a span of the work that it belongs to. */
export function traceCommits<D extends Database>(store: D): D {
  const commit: D["commit"] = (unit) => {
    if (!isTraced()) return store.commit(unit);
    const types = [...new Set(unit.events.map(({ type }) => type))].slice(0, mostTypes);
    const attributes = {
      "idsvc.events": unit.events.length,
      "idsvc.changes": unit.changes.length,
      ...(types.length === 0 ? {} : { "idsvc.event_types": types.join(" ") }),
    };
    return traced({ name: "commit", kind: "internal", attributes }, () => store.commit(unit));
  };
  return { ...store, commit };
}

/** Runs what makes events and rows of a decision, as a span of the work that it belongs to. */
export const traceProjecting: Projecting = (run) =>
  traced({ name: "projection", kind: "internal", attributes: {} }, run);

/**
 * The same way out, each call of which is a span. Whoever is called learns the trace and joins it. The host is told, and
 * nothing else of the address, which may hold secrets.
 */
export function traceEgress(outside: EgressClient): EgressClient {
  return {
    ...outside,
    call(call) {
      const { host = "", hostname = "", port = "" } = URL.parse(call.url) ?? {};
      const attributes = {
        "http.request.method": call.method,
        "server.address": hostname,
        ...(port === "" ? {} : { "server.port": Number(port) }),
      };
      const start = { name: `${call.method} ${host}`, kind: "client", attributes } as const;
      return traced(start, async (span) => {
        if (span === undefined) return outside.call(call);
        const headers = { ...call.headers, ...span.headers() };
        const answer = await outside.call({ ...call, headers });
        span.note({ "http.response.status_code": answer.status });
        return answer;
      });
    },
    connect(peer, limits) {
      const attributes = { "server.address": peer.host, "server.port": peer.port };
      const start = { name: `connect ${peer.host}`, kind: "client", attributes } as const;
      return traced(start, () => outside.connect(peer, limits));
    },
  };
}

/** The same handlers, each attempt of which is a span of its own. */
export const traceJobs = (tracing: Tracing, handlers: JobHandlers): JobHandlers =>
  Object.fromEntries(
    Object.entries(handlers).map(([kind, handler]) => {
      const run: typeof handler = (job) => {
        const attributes = {
          "idsvc.job": kind,
          "idsvc.attempt": job.attempt,
          "idsvc.instance_id": job.instanceId,
        };
        const start = { name: `job ${kind}`, kind: "consumer", attributes } as const;
        return within(tracing.begin(start, tracing.draw()), () => handler(job));
      };
      return [kind, handler.lane === undefined ? run : Object.assign(run, { lane: handler.lane })];
    }),
  );
