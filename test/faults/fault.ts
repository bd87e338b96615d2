import { setTimeout as delay } from "node:timers/promises";
import { check } from "./checker.ts";
import { acknowledgedWrites, unexplained } from "./client-log.ts";
import type { Arena, Engine, Store } from "./store.ts";
import type { Writers } from "./writers.ts";

/** What came of the rounds of a fault; the harness fails unless `lost` and `unexplained` are empty. */
export type Outcome = {
  rounds: number;
  /** How often the fault struck: kills, cuts, stops, damaged images. */
  struck: number;
  acknowledged: number;
  /** What the checker found. */
  lost: string[];
  /** Whatever else must not be: answers that no fault explains, limits that were passed. */
  unexplained: string[];
  /** For a reader: the figures that the specification asks for. */
  remark: string;
};

/** One row of docs/faults.md. */
export type Fault = {
  id: string;
  title: string;
  engines: readonly Engine[];
  /** Of a usual run, and of the run before a release. */
  rounds: { usual: number; full: number };
  run(arena: Arena, rounds: number): Promise<Outcome>;
};

/** This machine lacks what the fault needs; told loudly, counted as nothing. */
export class Skipped extends Error {
  override name = "Skipped";
}

export const both: readonly Engine[] = ["sqlite", "postgres"];

export const newOutcome = (): Outcome => ({
  rounds: 0,
  struck: 0,
  acknowledged: 0,
  lost: [],
  unexplained: [],
  remark: "",
});

/** Between the two, evenly. */
export const between = (least: number, most: number): number =>
  least + Math.random() * (most - least);
export const pause = (leastMs: number, mostMs: number) => delay(between(leastMs, mostMs));

/** Adds what the checker says of the store now, while nobody writes. */
export async function checkInto(outcome: Outcome, store: Store, writers?: Writers): Promise<void> {
  const found = await check(store.place, writers?.log);
  const at = `round ${outcome.rounds}: `;
  outcome.lost.push(...found.map((violation) => at + violation));
}

/** Adds what the clients know, once for each set of writers. */
export function countInto(outcome: Outcome, writers: Writers): void {
  outcome.acknowledged += acknowledgedWrites(writers.log);
  outcome.unexplained.push(...unexplained(writers.log));
}

/** The milliseconds until writers hear of another write that was acknowledged. */
export async function nextAcknowledged(writers: Writers, withinMs: number): Promise<number> {
  const before = acknowledgedWrites(writers.log);
  const start = performance.now();
  while (acknowledgedWrites(writers.log) === before) {
    if (performance.now() - start > withinMs)
      throw new Error(`nothing was acknowledged for ${withinMs} ms`);
    await delay(5);
  }
  return performance.now() - start;
}

/** Tells the median and the worst; the median must be in time, since the machine may have more to do. */
export function judgeTimes(outcome: Outcome, what: string, times: number[], limitMs: number): void {
  const sorted = times.toSorted((a, b) => a - b);
  const [median = 0, worst = 0] = [sorted[sorted.length >> 1], sorted.at(-1)];
  outcome.remark = [outcome.remark, `${what} ${Math.round(median)}-${Math.round(worst)} ms`]
    .filter((part) => part !== "")
    .join(", ");
  if (median > limitMs)
    outcome.unexplained.push(`${what} took ${Math.round(median)} ms, at most ${limitMs} is right`);
}
