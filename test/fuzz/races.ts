import assert from "node:assert/strict";
import fc from "fast-check";
import { type Contestants, startContestants } from "./race-contestants.ts";
import { goneRaces } from "./races-gone.ts";
import { onceRaces } from "./races-once.ts";
import { oneRaces } from "./races-one.ts";
import type { Target } from "./target.ts";

/** Several calls at once that cannot all be right, and what must hold afterwards. */
export type Race = (contestants: Contestants, many: number) => Promise<void>;

const races: Readonly<Record<string, Race>> = { ...onceRaces, ...oneRaces, ...goneRaces };
let started: Promise<Contestants>[] | undefined;
const begun = () =>
  (started ??= [
    startContestants("sqlite", 1),
    startContestants("sqlite", 2),
    startContestants("postgres", 2),
  ]);

/** Races in one process, and over two on either store (F12, decision 0090). */
export const raceTarget: Target = {
  name: "races",
  isLong: true,
  property: () =>
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(races)),
      fc.integer({ min: 2, max: 8 }),
      fc.nat({ max: 2 }),
      async (name, many, which) => {
        const contestants = await begun()[which];
        assert.ok(contestants);
        await races[name]?.(contestants, many);
      },
    ),
  ready: () => Promise.all(begun()),
  async close() {
    for (const each of started ?? []) await (await each)[Symbol.asyncDispose]();
    started = undefined;
  },
};
