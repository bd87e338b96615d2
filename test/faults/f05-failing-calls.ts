import { setTimeout as delay } from "node:timers/promises";
import {
  checkInto,
  countInto,
  type Fault,
  newOutcome,
  nextAcknowledged,
  type Outcome,
  Skipped,
} from "./fault.ts";
import { type Running, startServer } from "./server.ts";
import { token } from "./store.ts";
import { inject, noStrace } from "./strace.ts";
import { createWriters, type Writers } from "./writers.ts";

const writerCount = 8;
const roundsAStore = 20;
const flushes = "fsync,fdatasync";
const endMs = 3_000;
const strikeMs = 3_000;

type Failure = { calls: string; error: string; isFlush: boolean };
const failures: Failure[] = [
  { calls: flushes, error: "EIO", isFlush: true },
  { calls: "pwrite64", error: "EIO", isFlush: false },
  { calls: flushes, error: "ENOSPC", isFlush: true },
  { calls: "pwrite64", error: "ENOSPC", isFlush: false },
];

/**
 * Makes the n-th call that writes or flushes fail, n = 1 and on. A write that fails fails its callers; after a flush that
 * fails the process ends, and another one finds each change of the last batch whole or absent.
 */
export const callsFail: Fault = {
  id: "F05",
  title: "the n-th write or flush of the store fails",
  engines: ["sqlite"],
  rounds: { usual: 8, full: 400 },
  async run(arena, rounds) {
    const reason = noStrace();
    if (reason !== undefined) throw new Skipped(reason);
    const outcome = newOutcome();
    while (outcome.rounds < rounds) {
      await using store = await arena.newStore();
      const writers = createWriters(writerCount, token);
      const last = Math.min(rounds, outcome.rounds + roundsAStore);
      for (; outcome.rounds < last; outcome.rounds++) {
        const failure = failures[outcome.rounds % failures.length];
        const nth = 1 + Math.floor(outcome.rounds / failures.length);
        const server = await startServer(store.place);
        try {
          if (failure !== undefined) await strike(server, writers, failure, nth, outcome);
        } finally {
          await server.kill();
        }
        await checkInto(outcome, store, writers);
      }
      countInto(outcome, writers);
    }
    return outcome;
  },
};

async function strike(
  server: Running,
  writers: Writers,
  { calls, error, isFlush }: Failure,
  nth: number,
  outcome: Outcome,
): Promise<void> {
  // Flushes go on failing: what a later one might mend must not hide what the first one broke.
  const when = isFlush ? `${nth}+` : String(nth);
  await using injection = await inject(server.pid, calls, `error=${error}:when=${when}`);
  const name = `${calls} ${nth} with ${error}`;
  const running = writers.run(server.url);
  for (const end = Date.now() + strikeMs; injection.injected() === 0; await delay(5)) {
    if (Date.now() < end) continue;
    outcome.unexplained.push(`${name}: no call failed`);
    break;
  }
  outcome.struck += injection.injected();
  if (isFlush) {
    for (const end = Date.now() + endMs; !server.hasEnded() && Date.now() < end; ) await delay(5);
    if (!server.hasEnded()) outcome.unexplained.push(`${name}: the server goes on`);
  } else {
    await nextAcknowledged(writers, endMs);
  }
  await running.stop();
}
