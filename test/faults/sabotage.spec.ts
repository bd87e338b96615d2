// Run: alone, early, turns
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { killed } from "./f01-kill.ts";
import { unflushedLost } from "./f02-unflushed.ts";
import { callsFail } from "./f05-failing-calls.ts";
import { databaseRestarted } from "./f08-database-restart.ts";
import { gracefulStop } from "./f23-graceful-stop.ts";
import { isLong } from "../support/turns.ts";
import { checkInto, type Fault, newOutcome, nextAcknowledged } from "./fault.ts";
import { requireTexts, type SabotageName, sabotages } from "./sabotage.ts";
import { startServer } from "./server.ts";
import { type Arena, type Engine, openArena, token } from "./store.ts";
import { createWriters } from "./writers.ts";

/**
 * `rounds`: as many at the most. A kill may come where nothing is lost by it, the next one does not.
 * `isLong`: it starts servers of PostgreSQL or waits for long, so that `npm run test:long` has its turn.
 */
type Found = {
  by: Pick<Fault, "id" | "run">;
  engine: Engine;
  rounds: number;
  says: RegExp;
  isLong?: true;
};

// What is not done yet is lost in a kill, and is not there for who has done it either.
const notThere =
  /acknowledged at \d+, not there|head: .* is too many|showed \d+ after|and is unknown/;

/** Writers until some codes were redeemed, and all rules. */
const redeeming: Found["by"] = {
  id: "F01",
  async run(arena: Arena) {
    const outcome = newOutcome();
    await using store = await arena.newStore();
    const writers = createWriters(8, token);
    await using server = await startServer(store.place);
    await using running = writers.run(server.url);
    const redeemed = () =>
      writers.log.filter(({ op, status }) => op === "redeem" && status === 200);
    while (redeemed().length < 4) await nextAcknowledged(writers, 20_000);
    await running.stop();
    await server.kill();
    await checkInto(outcome, store, writers);
    return outcome;
  },
};

/** Which fault finds what is wrong, and in which words. */
const found: Record<SabotageName, Found | readonly Found[]> = {
  "SQLite acknowledges before it commits": {
    by: killed,
    engine: "sqlite",
    rounds: 20,
    says: notThere,
  },
  "PostgreSQL acknowledges before it commits": {
    by: killed,
    engine: "postgres",
    rounds: 20,
    says: notThere,
    isLong: true,
  },
  "rows of projections are dropped": {
    by: killed,
    engine: "sqlite",
    rounds: 5,
    says: /projection \w+: \d+ rows differ/,
  },
  "SQLite does not flush": [
    {
      by: callsFail,
      engine: "sqlite",
      rounds: 1,
      says: /not flushed before it is acknowledged: journal_mode wal, synchronous 1/,
    },
    { by: unflushedLost, engine: "sqlite", rounds: 1, says: notThere },
  ],
  "SQLite writes on after a flush that failed": {
    by: callsFail,
    engine: "sqlite",
    rounds: 1,
    says: /the server goes on/,
    isLong: true,
  },
  "PostgreSQL does not flush": {
    // Once in ten seconds the server flushes by itself (store.ts): on a busy machine that may be as often as a writer writes.
    by: callsFail,
    engine: "postgres",
    rounds: 5,
    says: /the log was flushed \d+ times/,
    isLong: true,
  },
  "a lost answer is taken for never happened": {
    by: databaseRestarted,
    engine: "postgres",
    // Nearly always the first one finds it; a caller that has stopped waiting meanwhile is not answered twice.
    rounds: 4,
    says: /refused, yet there|there [2-9] times|not there/,
    isLong: true,
  },
  "the feed drops events": {
    by: gracefulStop,
    engine: "sqlite",
    rounds: 2,
    says: /the feed told (\d+|of nothing) after \d+/,
  },
  "codes count twice": {
    by: redeeming,
    engine: "sqlite",
    rounds: 1,
    says: /code-\d+ was redeemed \d+ times/,
  },
};

const names = Object.keys(sabotages) as SabotageName[];
const ofThisRun = names.flatMap((name) =>
  [found[name]]
    .flat()
    .filter((each) => (each.isLong ?? false) === isLong)
    .map((each) => ({ name, ...each })),
);

describe("a service that is sabotaged", () => {
  for (const { name, by, engine, rounds, says } of ofThisRun) {
    it(`so that ${name} is found out by ${by.id}`, async () => {
      await using arena = await openArena(engine, { sabotage: name });
      const words: string[] = [];
      const isFound = () => words.some((each) => says.test(each));
      for (let round = 0; round < rounds && !isFound(); round++) {
        const { lost, unexplained } = await by.run(arena, 1);
        words.push(...lost, ...unexplained);
      }
      assert.ok(isFound(), words.slice(0, 10).join("\n"));
    });
  }

  for (const name of names) {
    it(`has the texts that are replaced so that ${name}`, () => requireTexts(name));
  }
});
