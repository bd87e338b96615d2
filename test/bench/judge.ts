/** What a row must reach. A measure is `x <peer>`, `of floor`, `p50 ms`, `p99 ms`, or a name of its own. */
export type Check = { measure: string; must?: number; goal?: number; atMost?: boolean };
export type RowGoal = { row: string; title: string; checks: Check[] };
export type Goals = Record<string, RowGoal>;

export type Grade = "goal" | "must" | "missed" | "failed" | "none";
export type Verdict = { grade: Grade; text: string; missed: string[] };

export const median = (values: readonly number[]): number => percentile(values, 50);

/** The value below which so many percent of the values lie; NaN of none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = ((sorted.length - 1) * percent) / 100;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** How far the values lie apart, as ± percent of their median. */
export function spread(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const apart = Math.max(...values) - Math.min(...values);
  return (apart / 2 / median(values)) * 100;
}

/** The median of the ratios of each round: what slows a whole round down slows both sides. */
export function ratioOf(service: readonly number[], other: readonly number[]): number {
  const rounds = Math.min(service.length, other.length);
  return median(
    Array.from({ length: rounds }, (_, at) => (service[at] ?? 0) / (other[at] ?? Number.NaN)),
  );
}

/**
 * The part of what is possible that a load reached which waits for the disk. With so many requests open at once each takes
 * `open / rate`: at best the time of one raw commit, or what the core needs for all that are open, whichever is longer. So it
 * is 1 at most for one commit after another and for a busy core, on a quick disk and on a slow one; more means several units in
 * less than a commit of the probe.
 */
export const ofDiskOrCore = (load: {
  /** Requests a second, and a second of processor time. */
  rate: number;
  cpuRate: number;
  open: number;
  commitMs: number;
}): number => load.rate * Math.max(1 / load.cpuRate, load.commitMs / 1000 / load.open);

/** The part of a bound that is reached: 1 and more keeps it. */
export function reached(value: number, bound: number, atMost = false): number {
  return atMost ? bound / value : value / bound;
}

/** Judges measured values; one that was not measured counts for nothing. */
export function judge(checks: readonly Check[], measured: ReadonlyMap<string, number>): Verdict {
  const missed: string[] = [];
  let nearest = Number.POSITIVE_INFINITY;
  let worst = Number.POSITIVE_INFINITY;
  for (const { measure, must, goal, atMost } of checks) {
    const value = measured.get(measure);
    if (value === undefined || Number.isNaN(value)) continue;
    if (goal !== undefined) nearest = Math.min(nearest, reached(value, goal, atMost));
    if (must === undefined) continue;
    const part = reached(value, must, atMost);
    worst = Math.min(worst, part);
    if (part < 1) missed.push(`${measure} ${value.toFixed(2)}, must ${must}`);
  }
  if (missed.length > 0) return { grade: "missed", text: `MUST ${worst.toFixed(2)}`, missed };
  if (nearest === Number.POSITIVE_INFINITY && worst === Number.POSITIVE_INFINITY) {
    return { grade: "none", text: "", missed };
  }
  if (nearest >= 1) return { grade: "goal", text: "goal ok", missed };
  const must = worst === Number.POSITIVE_INFINITY ? "" : "must ok, ";
  return { grade: "must", text: `${must}goal ${nearest.toFixed(2)}`, missed };
}

/** The rows that missed a must in two runs or more, or failed in any. */
export function gateFailures(runs: readonly (readonly { id: string; grade: Grade }[])[]): string[] {
  const misses = new Map<string, number>();
  for (const { id, grade } of runs.flat()) {
    const weight = grade === "failed" ? 2 : grade === "missed" ? 1 : 0;
    misses.set(id, (misses.get(id) ?? 0) + weight);
  }
  return [...misses].filter(([, count]) => count >= 2).map(([id]) => id);
}
