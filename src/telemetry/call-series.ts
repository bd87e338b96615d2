/** Calls of one outcome of one method: how many in all, their seconds, and how many in each span up to its bound. */
export type CallSeries = {
  /** The labels as they are written; their values need no escapes. */
  labels: string;
  count: number;
  seconds: number;
  spans: number[];
  /** Of each span, and of what is above all bounds, the last call that was traced. */
  exemplars: (Exemplar | undefined)[];
};

/** A call that stands for others, by the trace in which it can be looked at; its time in seconds since the epoch. */
export type Exemplar = { traceId: string; seconds: number; at: number };

/** What counting asks of the span of a call. */
export type Traced = { readonly isSampled: boolean; readonly traceId: string };

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function callSeries(labels: Record<string, string>): CallSeries {
  const written = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return {
    labels: written.join(","),
    count: 0,
    seconds: 0,
    spans: bounds.map(() => 0),
    exemplars: [],
  };
}

export function countIn(one: CallSeries, seconds: number, span?: Traced): void {
  one.count += 1;
  one.seconds += seconds;
  const at = bounds.findIndex((bound) => seconds <= bound);
  if (at !== -1) one.spans[at] = (one.spans[at] ?? 0) + 1;
  if (span?.isSampled !== true) return;
  const { traceId } = span;
  one.exemplars[at === -1 ? bounds.length : at] = { traceId, seconds, at: Date.now() / 1_000 };
}

/** What is counted of calls: the name of their number, and of their times. */
type Names = { total: string; totalHelp: string; duration: string; durationHelp: string };

export const rpcNames: Names = {
  total: "idsvc_rpc_calls_total",
  totalHelp: "RPC calls answered, by service, method, code and protocol.",
  duration: "idsvc_rpc_duration_seconds",
  durationHelp: "Time from the whole request to the whole answer of an RPC.",
};

export const httpNames: Names = {
  total: "idsvc_http_requests_total",
  totalHelp:
    "Requests at endpoints that are no RPC, such as those of OpenID Connect and the pages, by endpoint and status.",
  duration: "idsvc_http_duration_seconds",
  durationHelp: "Time of a request at such an endpoint, until its answer.",
};

/**
 * The text format of Prometheus. There are seventeen lines for each outcome of each method, and whoever asks holds up all
 * other calls: prom-client takes ten times as long for them.
 *
 * @param withExemplars which only the format of OpenMetrics has
 */
export function writeCalls(
  names: Names,
  series: readonly CallSeries[],
  withExemplars: boolean,
): string {
  const { total, totalHelp, duration, durationHelp } = names;
  let text = `# HELP ${total} ${totalHelp}\n# TYPE ${total} counter\n`;
  for (const { labels, count } of series) text += `${total}{${labels}} ${count}\n`;
  text += `\n# HELP ${duration} ${durationHelp}\n# TYPE ${duration} histogram\n`;
  for (const { labels, count, seconds, spans, exemplars } of series) {
    const shown = (at: number) => (withExemplars ? exemplarText(exemplars[at]) : "");
    let below = 0;
    for (const [at, bound] of bounds.entries()) {
      below += spans[at] ?? 0;
      text += `${duration}_bucket{le="${bound}",${labels}} ${below}${shown(at)}\n`;
    }
    text += `${duration}_bucket{le="+Inf",${labels}} ${count}${shown(bounds.length)}\n`;
    text += `${duration}_sum{${labels}} ${seconds}\n${duration}_count{${labels}} ${count}\n`;
  }
  return text;
}

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return "";
  const { traceId, seconds, at } = exemplar;
  return ` # {trace_id="${traceId}"} ${seconds} ${at.toFixed(3)}`;
}
