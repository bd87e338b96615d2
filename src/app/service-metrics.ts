import type { DescService } from "@bufbuild/protobuf";
import type { createBudgets } from "../authz/budgets.ts";
import type { createRefusals, EventPorts } from "../resources/event/index.ts";
import type { Kernel } from "./kernel.ts";
import type { MigratableDatabase } from "../storage/database.ts";
import { batchBounds } from "../storage/activity.ts";
import { cursors } from "../storage/kernel-tables.ts";
import { mergeMetrics } from "../telemetry/merge-metrics.ts";
import {
  createMetrics,
  type Metrics,
  type MetricsFormat,
  type MetricsPart,
} from "../telemetry/metrics.ts";
import { toOpenMetrics } from "../telemetry/open-metrics.ts";
import type { Siblings } from "./siblings.ts";

/** The metrics of the service: calls, events, what was refused, and the store. */
export function metricsOf(
  kernel: Kernel,
  services: readonly DescService[],
  parts: {
    budgets: ReturnType<typeof createBudgets>;
    refusals: ReturnType<typeof createRefusals>;
    followers: Pick<EventPorts["followers"], "count">;
    siblings: Siblings;
  },
): Metrics {
  const metrics = createMetrics({
    methods: new Map(services.map((s) => [s.typeName, s.methods.map(({ name }) => name)])),
    eventTypes: kernel.events.eventTypes,
  });
  kernel.onAppended((types) => types.forEach((type) => metrics.eventsAppended(type)));
  metrics.counter(
    "idsvc_budget_refusals_total",
    "What was refused because one source had used up its budget, by budget.",
    () => [...parts.budgets.refusals()].map(([budget, value]) => ({ labels: { budget }, value })),
  );
  metrics.counter(
    "idsvc_refusals_total",
    "Failed log-ins, refused clients and refused calls that are kept as refusals, by kind (login, client, call) and reason.",
    () => parts.refusals.noted().map(({ count, ...labels }) => ({ labels, value: count })),
  );
  metrics.gauge("idsvc_event_followers", "Streams of events that are open.", () => [
    { labels: {}, value: parts.followers.count() },
  ]);
  measureStore(metrics, kernel.db);
  measureTracing(metrics, kernel);
  return ofAllProcesses(metrics, parts.siblings);
}

const parts: readonly MetricsPart[] = ["all", "process"];
const formats: readonly MetricsFormat[] = ["prometheus", "openmetrics"];
const topicOf = (what: MetricsPart, format: MetricsFormat): string => `metrics ${what} ${format}`;

/** Whichever process is asked tells of all that serve together. */
function ofAllProcesses(metrics: Metrics, siblings: Siblings): Metrics {
  const { number } = siblings;
  if (number === undefined) return metrics;
  for (const what of parts) {
    for (const format of formats) {
      const answer = async () => (await metrics.render(what, format)).body;
      siblings.onAsked(topicOf(what, format), answer);
    }
  }
  return {
    ...metrics,
    async render(what, format = "prometheus") {
      const own = await metrics.render(what, format);
      const others = await siblings.ask(topicOf(what, format), own.body);
      const told = [
        { worker: number, text: own.body },
        ...others.map(({ worker, content }) => ({
          worker,
          text: typeof content === "string" ? content : "",
        })),
      ].toSorted((a, b) => a.worker - b.worker);
      const body = mergeMetrics(told);
      return { ...own, body: format === "openmetrics" ? toOpenMetrics(body) : body };
    },
  };
}

/** What operators see of the store: batches, connections, the write-ahead log, and how far subscriptions have read. */
function measureStore(metrics: Metrics, db: MigratableDatabase): void {
  const one = (value: number) => [{ labels: {}, value }];
  metrics.histogram(
    "idsvc_store_batch_seconds",
    "Time of a batch of units: one transaction, flushed once.",
    () => {
      const { count, seconds, spans } = db.activity().batches;
      return [{ labels: {}, count, seconds, upTo: spans, bounds: batchBounds }];
    },
  );
  metrics.counter("idsvc_store_units_total", "Units of work committed.", () =>
    one(db.activity().units),
  );
  metrics.gauge(
    "idsvc_store_lengthy_reads_waiting",
    "Searches of many rows that wait for their turn.",
    () => one(db.activity().waitingReads),
  );
  metrics.gauge("idsvc_store_log_bytes", "Size of the write-ahead log of SQLite.", () => {
    const { logBytes } = db.activity();
    return logBytes === undefined ? [] : one(logBytes);
  });
  metrics.gauge(
    "idsvc_store_connections",
    "Connections to PostgreSQL, by role and state (open, idle), and calls that wait for one (waiting).",
    () =>
      db
        .activity()
        .connections.flatMap(({ role, ...states }) =>
          Object.entries(states).map(([state, value]) => ({ labels: { role, state }, value })),
        ),
  );
  metrics.gauge(
    "idsvc_subscription_lag_events",
    "Events that a subscription has not read yet, in the instance with the most.",
    () => lagOf(db),
  );
}

function measureTracing(metrics: Metrics, { tracing }: Kernel): void {
  if (tracing === undefined) return;
  metrics.counter(
    "idsvc_trace_spans_total",
    "Spans of traces that are told: made, delivered to the collector, and lost because it could not be reached. What was made and is neither waits, or was dropped because too many waited.",
    () =>
      Object.entries(tracing.counts()).map(([outcome, value]) => ({ labels: { outcome }, value })),
  );
}

async function lagOf(db: MigratableDatabase) {
  const [heads, read] = await Promise.all([db.heads(), db.read.select().from(db.table(cursors))]);
  const most = new Map<string, number>();
  for (const { name, instanceId, position } of read) {
    const lag = Number((heads.get(instanceId) ?? position) - position);
    most.set(name, Math.max(most.get(name) ?? 0, lag));
  }
  return [...most].map(([name, value]) => ({ labels: { name }, value }));
}
