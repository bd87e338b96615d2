import assert from "node:assert/strict";
import { areaUnderCurve, errorOfArea, mostAdvantage } from "../support/classifier.ts";

export type Whom = "somebody" | "nobody";
/** Makes one try of a stranger ready; the time of what it returns is measured. */
export type Try = () => Promise<() => Promise<unknown>>;

const workers = 6;
const leastTries = 300;
// The standard error is a quarter of what a classifier may win by then.
const mostTries = 1_500;
// How many standard errors make a result clear before.
const clear = 2.5;

/** What a source may do is the same for names that exist and names that do not: that is tried elsewhere. */
export const withoutBudgets = Object.fromEntries(
  ["GUESSES", "MESSAGES", "REGISTRATIONS", "FLOWS", "UNAUTHENTICATED"].map((name) => [
    `IDSVC_BUDGET_${name}`,
    "0",
  ]),
);

let names = 0;
export const unknownName = (): string => `nobody${names++}@example.test`;

/**
 * Asserts that times tell somebody from nobody no better than chance, by 0.05. Both are tried by turns in an order that is drawn
 * anew each time, so that what else the machine does falls on both alike, and as often as it takes until the area is clearly on
 * one side of the bound.
 */
export async function assertAlike(
  begin: (whom: Whom, worker: number) => Promise<Try>,
): Promise<void> {
  const times: Record<Whom, number[]> = { somebody: [], nobody: [] };
  let isClear = false;
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      const tries = {
        somebody: await begin("somebody", worker),
        nobody: await begin("nobody", worker),
      };
      while (!isClear) {
        const both: Whom[] = Math.random() < 0.5 ? ["somebody", "nobody"] : ["nobody", "somebody"];
        for (const whom of both) {
          const attempt = await tries[whom]();
          const started = performance.now();
          await attempt();
          times[whom].push(performance.now() - started);
        }
        isClear ||= isDecided(times);
      }
    }),
  );
  const area = areaUnderCurve(times.somebody, times.nobody);
  const told = `area ${area.toFixed(3)} of ${times.nobody.length}, medians ${median(times.somebody)} and ${median(times.nobody)} ms`;
  assert.ok(Math.abs(area - 0.5) <= mostAdvantage, told);
}

function isDecided({ somebody, nobody }: Record<Whom, number[]>): boolean {
  const count = Math.min(somebody.length, nobody.length);
  if (count < leastTries) return false;
  if (count >= mostTries) return true;
  const advantage = Math.abs(areaUnderCurve(somebody, nobody) - 0.5);
  return Math.abs(advantage - mostAdvantage) > clear * errorOfArea(count);
}

const median = (all: readonly number[]): number =>
  Math.round(all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0);
