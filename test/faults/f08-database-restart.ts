import { type Proxy, startProxy } from "../support/postgres-proxy.ts";
import {
  checkInto,
  countInto,
  type Fault,
  judgeTimes,
  newOutcome,
  nextAcknowledged,
  type Outcome,
  pause,
} from "./fault.ts";
import { startServer } from "./server.ts";
import { databaseUrl, query, token } from "./store.ts";
import { createWriters } from "./writers.ts";

const writerCount = 16;
const roundsAStore = 25;
const longestHealMs = 5_000;
const terminations = 5;
const swallowMs = 5_000;

const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'idsvc %'`;

/**
 * The answer to the next commit that makes a target does not reach the service: the database is stopped after it is done, and
 * before it is told. What is made twice, or refused and there, shows by its mark.
 */
async function swallowOne(proxy: Proxy, outcome: Outcome): Promise<void> {
  const before = proxy.cuts;
  proxy.cut("swallow", '"target.added"');
  for (const end = Date.now() + swallowMs; proxy.cuts === before; await pause(1, 2)) {
    if (Date.now() < end) continue;
    outcome.unexplained.push("no answer to a commit was swallowed");
    return;
  }
}

/**
 * Stops the database as a crash does, or in order, after a commit whose answer the service has not got, or ends its sessions again
 * and again; the service goes on.
 */
export const databaseRestarted: Fault = {
  id: "F08",
  title: "PostgreSQL stopped at once and started; its sessions ended",
  engines: ["postgres"],
  rounds: { usual: 8, full: 400 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    const heals: number[] = [];
    const cluster = arena.cluster();
    while (outcome.rounds < rounds) {
      await using store = await arena.newStore();
      await using proxy = await startProxy(databaseUrl(store.place));
      const env = { ...store.place.env, IDSVC_DATABASE_URL: proxy.url };
      const writers = createWriters(writerCount, token);
      await using server = await startServer({ ...store.place, env });
      try {
        const last = Math.min(rounds, outcome.rounds + roundsAStore);
        while (outcome.rounds < last) {
          await using running = writers.run(server.url);
          await nextAcknowledged(writers, 10_000);
          await pause(20, 400);
          if (outcome.rounds % 2 === 0) {
            await swallowOne(proxy, outcome);
            await cluster.stop(outcome.rounds % 8 === 6 ? "fast" : "immediate");
            outcome.struck += 1;
            await pause(0, 300);
            await cluster.start();
          } else {
            for (let at = 0; at < terminations; at++) {
              await query(cluster.url("postgres"), terminate);
              outcome.struck += 1;
              await pause(5, 60);
            }
          }
          heals.push(await nextAcknowledged(writers, 20_000));
          await running.stop();
          outcome.rounds += 1;
          await checkInto(outcome, store, writers);
        }
      } finally {
        await server.kill();
      }
      countInto(outcome, writers);
    }
    judgeTimes(outcome, "writing again", heals, longestHealMs);
    return outcome;
  },
};
