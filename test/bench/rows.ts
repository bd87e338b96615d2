import type { BenchCase } from "./measure.ts";

/** What of the measured cases stands in one line of the table. */
export type RowPlan = {
  id: string;
  service: string;
  /** By the name that goals use; the first one stands in the table. */
  peers?: Record<string, string>;
  floor?: string;
  /** It waits for the disk: processor time says little of it. */
  waits?: boolean;
};

/** Servers under load and the rows that they give. */
export type Bench = AsyncDisposable & { cases: BenchCase[]; rows: RowPlan[] };

/** Whether a row is asked for. */
export type Wanted = (id: string) => boolean;

/** The rows that are asked for, with only the cases that they need. */
export function chosen(
  { cases, rows }: { cases: BenchCase[]; rows: RowPlan[] },
  wanted: Wanted,
): Pick<Bench, "cases" | "rows"> {
  const kept = rows.filter(({ id }) => wanted(id));
  const needed = new Set(
    kept.flatMap(({ service, peers = {}, floor }) => [service, floor, ...Object.values(peers)]),
  );
  return { rows: kept, cases: cases.filter(({ name }) => needed.has(name) || name === hello) };
}

/** The case that guards against noise: it runs in every round. */
export const hello = "node:http hello";
