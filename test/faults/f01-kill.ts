import {
  between,
  both,
  checkInto,
  countInto,
  type Fault,
  judgeTimes,
  newOutcome,
  nextAcknowledged,
  pause,
} from "./fault.ts";
import { end, spawnServer, startServer } from "./server.ts";
import { token } from "./store.ts";
import { createWriters } from "./writers.ts";

// What is checked after each kill grows with the log: a new store now and then keeps it short.
const roundsAStore = 40;
const writerCount = 16;
const longestStartMs = 3_000;

/** Kills the server among writes, and sometimes again in its recovery; another process then checks the store. */
export const killed: Fault = {
  id: "F01",
  title: "kill -9 of the server during writes",
  engines: both,
  rounds: { usual: 8, full: 1_000 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    const starts: number[] = [];
    while (outcome.rounds < rounds) {
      await using store = await arena.newStore();
      const writers = createWriters(writerCount, token);
      const last = Math.min(rounds, outcome.rounds + roundsAStore);
      while (outcome.rounds < last) {
        await using server = await startServer(store.place);
        starts.push(server.readyMs);
        await using running = writers.run(server.url);
        // Most kills fall among writes, some among the first calls of a process.
        if (outcome.rounds % 4 !== 1) await nextAcknowledged(writers, 10_000);
        await pause(5, 800);
        await server.kill();
        outcome.struck += 1;
        await running.stop();
        if (outcome.rounds % 4 === 3) {
          const child = spawnServer(store.place);
          await pause(100, between(200, 900));
          await end(child, "SIGKILL");
          outcome.struck += 1;
        }
        outcome.rounds += 1;
        await checkInto(outcome, store, writers);
      }
      countInto(outcome, writers);
    }
    judgeTimes(outcome, "serving again", starts, longestStartMs);
    return outcome;
  },
};
