import type { Value } from "../telemetry/metrics.ts";
import type { Cause, TargetCalled } from "./run.ts";

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120, 300];

type Series = { cause: Cause["type"]; count: number; seconds: number; upTo: number[] };

/** Counts the calls of targets in this process. Labels are of closed sets: no id stands in them. */
export function createMeter() {
  const calls = new Map<string, { labels: { cause: string; outcome: string }; value: number }>();
  const times = new Map<Cause["type"], Series>();

  return {
    count({ cause: { type }, outcome }: Pick<TargetCalled, "cause" | "outcome">): void {
      const labels = { cause: type, outcome: outcome.ok ? "ok" : outcome.failure };
      const name = `${labels.cause} ${labels.outcome}`;
      const counter = calls.get(name) ?? { labels, value: 0 };
      counter.value += 1;
      calls.set(name, counter);
      const series = times.get(type) ?? {
        cause: type,
        count: 0,
        seconds: 0,
        upTo: bounds.map(() => 0),
      };
      times.set(type, series);
      const seconds = outcome.durationMs / 1000;
      series.count += 1;
      series.seconds += seconds;
      const at = bounds.findIndex((bound) => seconds <= bound);
      if (at !== -1) series.upTo[at] = (series.upTo[at] ?? 0) + 1;
    },
    calls: (): Value[] => [...calls.values()].map((counter) => ({ ...counter })),
    times: () =>
      [...times.values()].map(({ cause, ...series }) => ({ ...series, labels: { cause }, bounds })),
  };
}
