import { appendFunction } from "../../src/storage/postgres/append-function.ts";
import { type Proxy, startProxy } from "../support/postgres-proxy.ts";
import {
  checkInto,
  countInto,
  type Fault,
  judgeTimes,
  newOutcome,
  nextAcknowledged,
  pause,
} from "./fault.ts";
import { startServer } from "./server.ts";
import { databaseUrl, query, token } from "./store.ts";
import { createWriters } from "./writers.ts";

const writerCount = 16;
const roundsAStore = 25;
const longestHealMs = 15_000;
const longestLockMs = 30_000;

type Break = (proxy: Proxy) => Promise<void>;

const cutAfter: Break = async (proxy) => proxy.cut("after", appendFunction);
const cutBefore: Break = async (proxy) => proxy.cut("before", appendFunction);
const cutTwice: Break = async (proxy) => proxy.cut("after", appendFunction, 2);
const swallow: Break = async (proxy) => proxy.cut("swallow", appendFunction);
const hole: Break = async (proxy) => {
  proxy.hole(true);
  await pause(500, 2_000);
  proxy.hole(false);
  // What was lost in between never comes; connections that wait for it must be given up.
};
const shut: Break = async (proxy) => {
  proxy.shut(true);
  await pause(200, 1_500);
  proxy.shut(false);
};
const breaks: Break[] = [cutAfter, cutAfter, cutBefore, shut, cutTwice, cutAfter, swallow, hole];

/** Breaks the way to the database at the commit: its answer is lost, or the question, or all that comes after. */
export const answerLost: Fault = {
  id: "F10",
  title: "the answer to a commit lost, the network cut or silent",
  engines: ["postgres"],
  rounds: { usual: 8, full: 500 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    const heals: number[] = [];
    while (outcome.rounds < rounds) {
      await using store = await arena.newStore();
      const direct = databaseUrl(store.place);
      await using proxy = await startProxy(direct);
      const place = {
        ...store.place,
        env: { ...store.place.env, IDSVC_DATABASE_URL: proxy.url },
      };
      const writers = createWriters(writerCount, token);
      await using server = await startServer(place);
      try {
        const last = Math.min(rounds, outcome.rounds + roundsAStore);
        while (outcome.rounds < last) {
          await using running = writers.run(server.url);
          await nextAcknowledged(writers, 20_000);
          await pause(0, 150);
          await breaks[outcome.rounds % breaks.length]?.(proxy);
          outcome.struck += 1;
          await pause(100, 300);
          heals.push(await nextAcknowledged(writers, longestHealMs));
          await running.stop();
          outcome.rounds += 1;
          await checkInto(outcome, store, writers);
        }
        if (proxy.cuts === 0) outcome.unexplained.push("the proxy cut no connection at a commit");
        await stuckSessions(direct, outcome.unexplained);
      } finally {
        await server.kill();
      }
      countInto(outcome, writers);
    }
    judgeTimes(outcome, "writing again", heals, longestHealMs);
    return outcome;
  },
};

/** A session whose client has gone must not hold its locks for longer than half a minute. */
async function stuckSessions(url: string, into: string[]): Promise<void> {
  const rows = await query(
    url,
    `SELECT application_name, state FROM pg_stat_activity
     WHERE xact_start < now() - interval '${longestLockMs} milliseconds' AND application_name LIKE 'idsvc %'`,
  );
  for (const row of rows) into.push(`a session holds its transaction: ${row.join(" ")}`);
}
