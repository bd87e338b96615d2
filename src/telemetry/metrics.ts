import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { codes, type Kind } from "../errors.ts";

/** The protocols of the one port, as a label. */
export type Protocol = "grpc" | "grpc-web" | "connect" | "rest";

export type RpcCall = {
  service: string;
  method: string;
  /** `ok`, or the kind of the refusal. */
  code: Kind | "ok";
  protocol: Protocol;
  seconds: number;
};

/** What may stand in a label: the methods of the schema and the names of the events, both known at start. */
export type LabelSets = {
  /** Service name to its method names. */
  methods: ReadonlyMap<string, Iterable<string>>;
  eventTypes: Iterable<string>;
};

export type Metrics = {
  rpcCalled(call: RpcCall): void;
  eventsAppended(type: string, count?: number): void;
  /** For metrics of other parts, which keep their label values to closed sets too. */
  registry: Registry;
  /** All values in the text format of Prometheus. */
  render(): Promise<{ contentType: string; body: string }>;
};

const labelNames = ["service", "method", "code", "protocol"] as const;
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const protocols: ReadonlySet<string> = new Set(["grpc", "grpc-web", "connect", "rest"]);
const outcomes: ReadonlySet<string> = new Set(["ok", ...Object.keys(codes)]);

/**
 * The metrics of one running service, in a registry of their own.
 *
 * No label takes a value from a caller: a service, method or event that is not in the sets is counted as `other`, so
 * that no request can grow the number of series.
 */
export function createMetrics(sets: LabelSets): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const calls = new Counter({
    name: "idsvc_rpc_calls_total",
    help: "RPC calls answered, by service, method, code and protocol.",
    labelNames,
    registers: [registry],
  });
  const durations = new Histogram({
    name: "idsvc_rpc_duration_seconds",
    help: "Time from the whole request to the whole answer of an RPC.",
    labelNames,
    buckets: seconds,
    registers: [registry],
  });
  const events = new Counter({
    name: "idsvc_events_appended_total",
    help: "Events committed, by type.",
    labelNames: ["type"] as const,
    registers: [registry],
  });
  const methods = new Map([...sets.methods].map(([name, list]) => [name, new Set(list)]));
  const eventTypes = new Set(sets.eventTypes);

  return {
    registry,
    rpcCalled({ service, method, code, protocol, seconds: duration }) {
      const labels = {
        service: methods.has(service) ? service : "other",
        method: methods.get(service)?.has(method) ? method : "other",
        code: outcomes.has(code) ? code : "other",
        protocol: protocols.has(protocol) ? protocol : "other",
      };
      calls.inc(labels);
      durations.observe(labels, duration);
    },
    eventsAppended(type, count = 1) {
      events.inc({ type: eventTypes.has(type) ? type : "other" }, count);
    },
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
