import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { acknowledgedWrites } from "./client-log.ts";
import {
  both,
  checkInto,
  countInto,
  type Fault,
  newOutcome,
  nextAcknowledged,
  type Outcome,
} from "./fault.ts";
import { flushesIn, watchedBy } from "./flush-watch.ts";
import { flushesOfServer } from "./postgres-flushes.ts";
import { type Running, startServer } from "./server.ts";
import { type Arena, type Store, token } from "./store.ts";
import { inject, noStrace } from "./strace.ts";
import { createWriters, type Writers } from "./writers.ts";

const writerCount = 8;
const roundsAStore = 20;
const flushes = "fsync,fdatasync";
const endMs = 10_000;
const writtenToMs = 1_000;
const strikeMs = 20_000;
const leastWrites = 20;

type Failure = { calls: string; error: string; isFlush: boolean };
const failures: Failure[] = [
  { calls: flushes, error: "EIO", isFlush: true },
  { calls: "pwrite64", error: "EIO", isFlush: false },
  { calls: flushes, error: "ENOSPC", isFlush: true },
  { calls: "pwrite64", error: "ENOSPC", isFlush: false },
];

/**
 * What is acknowledged is flushed; and the n-th write or flush fails, n = 1 and on. A write that fails fails its callers; after a
 * flush that fails the process that writes ends, and another one finds each change of the last batch whole or absent.
 *
 * On SQLite every commit is watched between the store and the library, and flushes are made to fail there, which needs nothing
 * of the machine; where `strace` is, calls of the system fail too. On PostgreSQL the server tells how often it has flushed its log.
 */
export const callsFail: Fault = {
  id: "F05",
  title: "what is acknowledged is flushed; the n-th write or flush of the store fails",
  engines: both,
  rounds: { usual: 8, full: 400 },
  run: (arena, rounds) => (arena.engine === "sqlite" ? onSqlite : onPostgres)(arena, rounds),
};

async function onPostgres(arena: Arena, rounds: number): Promise<Outcome> {
  const outcome = newOutcome();
  while (outcome.rounds < Math.ceil(rounds / roundsAStore)) {
    await using store = await arena.newStore();
    // One writer after the other: no flush is shared.
    const writers = createWriters(1, token);
    await using server = await startServer(store.place);
    const before = await flushesOfServer(arena.cluster());
    await using running = writers.run(server.url);
    const end = Date.now() + leastWrites * endMs;
    while (acknowledgedWrites(writers.log) < leastWrites && !server.writer.hasEnded()) {
      if (Date.now() > end) throw new Error(`fewer than ${leastWrites} writes were acknowledged`);
      await delay(5);
    }
    await running.stop();
    if (server.writer.hasEnded())
      outcome.unexplained.push("the server ended while it was written to");
    // Sessions tell what they have done when they end, at the latest.
    await server.stop();
    const done = (await flushesOfServer(arena.cluster())) - before;
    const acknowledged = acknowledgedWrites(writers.log);
    if (done < acknowledged)
      outcome.lost.push(
        `${acknowledged} writes were acknowledged, and the log was flushed ${done} times`,
      );
    outcome.rounds += 1;
    await checkInto(outcome, store, writers);
    countInto(outcome, writers);
  }
  return outcome;
}

async function onSqlite(arena: Arena, rounds: number): Promise<Outcome> {
  const outcome = newOutcome();
  const reason = noStrace();
  if (reason !== undefined) outcome.remark = `only commits failed: ${reason}`;
  while (outcome.rounds < rounds) {
    await using store = await arena.newStore();
    const writers = createWriters(writerCount, token);
    const last = Math.min(rounds, outcome.rounds + roundsAStore);
    for (; outcome.rounds < last; outcome.rounds++) {
      const nth = 1 + Math.floor(outcome.rounds / failures.length);
      const failure = failures[Math.floor(outcome.rounds / 2) % failures.length];
      if (outcome.rounds % 2 === 0 || reason !== undefined)
        await commitFails(store, writers, outcome);
      else if (failure !== undefined) await callFails(store, writers, failure, nth, outcome);
      await checkInto(outcome, store, writers);
    }
    countInto(outcome, writers);
  }
  return outcome;
}

/** The flush of a commit fails, and all after it, as SQLite tells of them. */
async function commitFails(store: Store, writers: Writers, outcome: Outcome): Promise<void> {
  const file = join(store.place.dataDir, `flushes-${outcome.rounds}`);
  const { imports, env } = watchedBy(file, { failsFrom: 20 + outcome.rounds });
  const place = {
    ...store.place,
    imports: [...(store.place.imports ?? []), ...imports],
    env: { ...store.place.env, ...env },
  };
  await using server = await startServer(place);
  await using running = writers.run(server.url);
  for (const end = Date.now() + strikeMs; flushesIn(file).failed === 0; await delay(5)) {
    if (Date.now() < end) continue;
    outcome.unexplained.push("no commit failed");
    break;
  }
  await ends(server, running, outcome, "a commit whose flush failed");
  await running.stop();
  await server.kill();
  const { failed, violations } = flushesIn(file);
  outcome.struck += failed;
  outcome.lost.push(...violations);
}

async function ends(
  server: Running,
  running: ReturnType<Writers["run"]>,
  outcome: Outcome,
  what: string,
): Promise<void> {
  const wait = async (ms: number) => {
    for (const end = Date.now() + ms; !server.writer.hasEnded() && Date.now() < end; )
      await delay(5);
  };
  await wait(writtenToMs);
  // Who goes on is not written to all the while.
  if (!server.writer.hasEnded()) await running.stop();
  await wait(endMs);
  if (!server.writer.hasEnded()) outcome.unexplained.push(`${what}: the server goes on`);
}

async function callFails(
  store: Store,
  writers: Writers,
  { calls, error, isFlush }: Failure,
  nth: number,
  outcome: Outcome,
): Promise<void> {
  await using server = await startServer(store.place);
  try {
    // Flushes go on failing: what a later one might mend must not hide what the first one broke.
    const when = isFlush ? `${nth}+` : String(nth);
    await using injection = await inject(server.writer.pid, calls, `error=${error}:when=${when}`);
    const name = `${calls} ${nth} with ${error}`;
    await using running = writers.run(server.url);
    for (const end = Date.now() + strikeMs; injection.injected() === 0; await delay(5)) {
      if (Date.now() < end) continue;
      outcome.unexplained.push(`${name}: no call failed`);
      break;
    }
    outcome.struck += injection.injected();
    if (isFlush) await ends(server, running, outcome, name);
    else await nextAcknowledged(writers, endMs);
    await running.stop();
  } finally {
    await server.kill();
  }
}
