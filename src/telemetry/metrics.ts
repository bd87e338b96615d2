import type { Counter, Registry } from "prom-client";
import type { Awaitable } from "../awaitable.ts";
import { codes, type Kind } from "../errors.ts";
import {
  type CallSeries,
  callSeries,
  countIn,
  httpNames,
  rpcNames,
  type Traced,
  writeCalls,
} from "./call-series.ts";
import { openMetricsType, toOpenMetrics } from "./open-metrics.ts";

/** The protocols of the one port, as a label. */
export type Protocol = "grpc" | "grpc-web" | "connect" | "rest" | "page";

/**
 * Counts and times one call of a method: its outcome (`ok`, or the kind of the refusal), protocol, seconds, and where it is traced
 * its span.
 */
export type CountCall = (
  code: Kind | "ok",
  protocol: Protocol,
  seconds: number,
  span?: Traced,
) => void;

/** Counts and times one request: its status, its seconds, and where it is traced its span. */
export type CountRequest = (status: number, seconds: number, span?: Traced) => void;

/** The text format of Prometheus, or OpenMetrics, which has exemplars too. */
export type MetricsFormat = "prometheus" | "openmetrics";

/** All values, or those of the process alone, which tell nothing of tenants. */
export type MetricsPart = "all" | "process";

/** What may stand in a label: the methods of the schema and the names of the events, both known at start. */
export type LabelSets = {
  /** Service name to its method names. */
  methods: ReadonlyMap<string, Iterable<string>>;
  eventTypes: Iterable<string>;
};

export type Metrics = {
  /** What counts the calls of one method; asked for once a method. */
  callsOf(service: string, method: string): CountCall;
  /** What counts and times the requests at an endpoint, which is named by its path; asked for once an endpoint. */
  requestsOf(endpoint: string): CountRequest;
  eventsAppended(type: string, count?: number): void;
  /** A gauge of another part, read whenever somebody asks; its label values are of closed sets too. */
  gauge(name: string, help: string, read: Read): void;
  /** What another part counts; as a gauge, but it only grows. */
  counter(name: string, help: string, read: Read): void;
  /** Times that another part measures. */
  histogram(name: string, help: string, read: () => Timed[]): void;
  render(what: MetricsPart, format?: MetricsFormat): Promise<RenderedMetrics>;
};

export type RenderedMetrics = { contentType: string; body: string };

const protocols: ReadonlySet<string> = new Set(["grpc", "grpc-web", "connect", "rest", "page"]);
const outcomes: ReadonlySet<string> = new Set(["ok", ...Object.keys(codes)]);

type Labels = Record<string, string | number>;
/** Times of one kind: how many in all, their sum, and how many in each span up to its bound. */
export type Timed = {
  labels: Labels;
  count: number;
  seconds: number;
  upTo: readonly number[];
  bounds: readonly number[];
};
type Other = [name: string, help: string, type: string, read: Read];
type Read = () => Awaitable<Value[]>;
export type Value = { labels: Labels; value: number; metricName?: string };

/**
 * The metrics of one running service.
 *
 * No label takes a value from a caller: a service, method or event that is not in the sets is counted as `other`, so
 * that no request can grow the number of series.
 *
 * Calls are counted here, because prom-client makes and sorts a key of all labels each time, which costs more than the
 * log line. They are written here too (call-series.ts). It writes all others and knows the process, and is loaded when
 * somebody asks.
 */
export function createMetrics(sets: LabelSets): Metrics {
  const methods = new Map([...sets.methods].map(([name, list]) => [name, new Set(list)]));
  const eventTypes = new Set(sets.eventTypes);
  const series: CallSeries[] = [];
  const requests: CallSeries[] = [];
  const counters = new Map<string, CountCall>();
  const events = new Map<string, number>();
  const others: Other[] = [];
  let registries: Promise<{ ofProcess: Registry; ofService: Registry }> | undefined;

  function counterOf(service: string, method: string): CountCall {
    const byOutcome = new Map<string, CallSeries>();
    const newSeries = (code: string, protocol: string): CallSeries => {
      const made = callSeries({ service, method, code, protocol });
      series.push(made);
      return made;
    };
    return (code, protocol, seconds, span) => {
      const outcome = outcomes.has(code) ? code : "other";
      const known = protocols.has(protocol) ? protocol : "other";
      const name = outcome === "ok" ? known : `${known} ${outcome}`;
      let one = byOutcome.get(name);
      if (one === undefined) byOutcome.set(name, (one = newSeries(outcome, known)));
      countIn(one, seconds, span);
    };
  }

  return {
    callsOf(service, method) {
      const known = methods.has(service) ? service : "other";
      const named = methods.get(service)?.has(method) ? method : "other";
      const name = `${known}/${named}`;
      let counter = counters.get(name);
      if (counter === undefined) counters.set(name, (counter = counterOf(known, named)));
      return counter;
    },
    requestsOf(endpoint) {
      const byStatus = new Map<number, CallSeries>();
      return (status, seconds, span) => {
        let one = byStatus.get(status);
        if (one === undefined) {
          one = callSeries({ endpoint, status: String(status) });
          requests.push(one);
          byStatus.set(status, one);
        }
        countIn(one, seconds, span);
      };
    },
    eventsAppended(type, count = 1) {
      const known = eventTypes.has(type) ? type : "other";
      events.set(known, (events.get(known) ?? 0) + count);
    },
    gauge: (name, help, read) => void others.push([name, help, "gauge", read]),
    counter: (name, help, read) => void others.push([name, help, "counter", read]),
    histogram(name, help, read) {
      others.push([name, help, "histogram", () => read().flatMap((one) => histogram(name, one))]);
    },
    async render(what, format = "prometheus") {
      const { ofProcess, ofService } = await (registries ??= load(others, events));
      const isOpen = format === "openmetrics";
      const process = await ofProcess.metrics();
      const counted = () =>
        `${writeCalls(rpcNames, series, isOpen)}\n${writeCalls(httpNames, requests, isOpen)}`;
      const body =
        what === "process" ? process : `${process}\n${await ofService.metrics()}\n${counted()}`;
      return isOpen
        ? { contentType: openMetricsType, body: toOpenMetrics(body) }
        : { contentType: ofProcess.contentType, body };
    },
  };
}

/**
 * Metrics that ask undocumented functions of Node (`process._getActiveHandles`, `_getActiveRequests`): these end the process where the
 * object of a handle that closes has been collected already. `nodejs_active_resources` counts the same by a public one.
 */
const unsafeMetrics = [
  "nodejs_active_handles",
  "nodejs_active_handles_total",
  "nodejs_active_requests",
  "nodejs_active_requests_total",
];

async function load(
  others: readonly Other[],
  events: ReadonlyMap<string, number>,
): Promise<{ ofProcess: Registry; ofService: Registry }> {
  const { collectDefaultMetrics, Registry: PromRegistry } = await import("prom-client");
  const ofProcess = new PromRegistry();
  const ofService = new PromRegistry();
  collectDefaultMetrics({ register: ofProcess });
  for (const name of unsafeMetrics) ofProcess.removeSingleMetric(name);
  const add = (
    name: string,
    help: string,
    type: string,
    values: () => Awaitable<Value[]>,
  ): void => {
    // A metric is to the registry whatever gives these; its types know only the classes of the library.
    const metric = { name, get: async () => ({ name, help, type, values: await values() }) };
    ofService.registerMetric(metric as unknown as Counter);
  };
  add("idsvc_events_appended_total", "Events committed, by type.", "counter", () =>
    [...events].map(([type, value]) => ({ labels: { type }, value })),
  );
  for (const other of others) add(...other);
  return { ofProcess, ofService };
}

function histogram(name: string, { labels, count, seconds, upTo, bounds: ends }: Timed): Value[] {
  let below = 0;
  const buckets = ends.map((bound, at) => {
    below += upTo[at] ?? 0;
    return { labels: { le: bound, ...labels }, value: below, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels: { le: "+Inf", ...labels }, value: count, metricName: `${name}_bucket` },
    { labels, value: seconds, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ];
}
