import { setTimeout as delay } from "node:timers/promises";
import { call } from "./call.ts";
import {
  checkInto,
  countInto,
  type Fault,
  judgeTimes,
  newOutcome,
  nextAcknowledged,
} from "./fault.ts";
import { startServer } from "./server.ts";
import { databaseUrl, query, token } from "./store.ts";
import { createWriters } from "./writers.ts";

const clients = 200;
const heldSeconds = 7;
// The time limit of a statement, and of the look at what became of it.
const longestAnswerMs = 15_000;
const longestHealMs = 5_000;

/** A transaction from elsewhere holds the log while 200 clients write and search: all are answered, then all goes on. */
export const databaseStuck: Fault = {
  id: "F25",
  title: "another transaction locks the log under 200 clients",
  engines: ["postgres"],
  rounds: { usual: 1, full: 40 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using store = await arena.newStore();
    const url = databaseUrl(store.place);
    await using server = await startServer(store.place);
    const writers = createWriters(clients, token);
    const answers: number[] = [];
    const heals: number[] = [];
    try {
      for (; outcome.rounds < rounds; outcome.rounds++) {
        await using running = writers.run(server.url);
        await nextAcknowledged(writers, 10_000);
        const holding = query(
          url,
          `BEGIN; LOCK TABLE events IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(${heldSeconds}); COMMIT`,
        );
        outcome.struck += 1;
        await delay(200);
        const asked = Array.from({ length: 10 }, async () => {
          const start = performance.now();
          const { status, text } = await call(server.url, token, {
            method: "POST",
            path: "/targets",
            body: { name: "x" },
          });
          answers.push(performance.now() - start);
          if (status === 0 || status === 500)
            outcome.unexplained.push(`answered ${status} ${text}`);
        });
        await Promise.all([holding, ...asked]);
        heals.push(await nextAcknowledged(writers, 20_000));
        await running.stop();
        await checkInto(outcome, store, writers);
      }
    } finally {
      await server.kill();
    }
    countInto(outcome, writers);
    const busy = writers.log.filter(({ status }) => status === 503).length;
    if (busy === 0) outcome.unexplained.push("nobody was told to come back: nothing was stuck");
    outcome.remark = `${busy} told to come back`;
    judgeTimes(outcome, "answered after", answers, longestAnswerMs);
    judgeTimes(outcome, "writing again", heals, longestHealMs);
    return outcome;
  },
};
