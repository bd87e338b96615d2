import { statSync, rmSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import {
  checkInto,
  countInto,
  type Fault,
  judgeTimes,
  newOutcome,
  nextAcknowledged,
  type Outcome,
} from "./fault.ts";
import { spawnCommand, startServer } from "./server.ts";
import { type Store, token } from "./store.ts";
import { createWriters, type Writers } from "./writers.ts";

const lockedMs = 5_000;
const readingMs = 3_000;
const backups = 3;
const patienceMs = 20_000;
const longestHealMs = 2_000;
// What is written until the log begins anew at its head.
const moreLogBytes = 8 * 1024 * 1024;

/** Another process locks the store, reads for long, and copies it, while writers write: they wait, and none hears of it as an error. */
export const lockContention: Fault = {
  id: "F06",
  title: "another process locks, reads and backs up the store",
  engines: ["sqlite"],
  rounds: { usual: 1, full: 30 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    const heals: number[] = [];
    await using store = await arena.newStore();
    const writers = createWriters(16, token);
    await using server = await startServer(store.place);
    const file = join(store.place.dataDir, "idsvc.db");
    try {
      for (; outcome.rounds < rounds; outcome.rounds++) {
        await using running = writers.run(server.url);
        await nextAcknowledged(writers, patienceMs);
        await locked(file, () => readsAreServed(server.url, outcome));
        heals.push(await nextAcknowledged(writers, patienceMs));
        await readFor(file, writers, outcome);
        for (let at = 0; at < backups; at++) await backUp(store, at, outcome);
        outcome.struck += 2 + backups;
        await running.stop();
        await checkInto(outcome, store, writers);
      }
    } finally {
      await server.kill();
    }
    countInto(outcome, writers);
    const busy = writers.log.filter(({ status }) => status >= 500 || status === 0);
    if (busy.length > 0)
      outcome.unexplained.push(`${busy.length} writers were not answered: ${busy[0]?.text}`);
    judgeTimes(outcome, "writing again", heals, longestHealMs);
    return outcome;
  },
};

async function locked(file: string, meanwhile: () => Promise<void>): Promise<void> {
  const other = new Sqlite(file);
  try {
    // Its writers commit all the time: the lock is free only for moments.
    other.pragma("busy_timeout = 10000", { simple: true });
    other.exec("BEGIN IMMEDIATE");
    const until = delay(lockedMs);
    await meanwhile();
    await until;
    other.exec("ROLLBACK");
  } finally {
    other.close();
  }
}

async function readsAreServed(url: string, outcome: Outcome): Promise<void> {
  const start = performance.now();
  const { status } = await fetch(`${url}/resources/v3alpha/targets/_search`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  if (status !== 200) outcome.unexplained.push(`a search was answered ${status} beside the lock`);
  if (performance.now() - start > lockedMs / 2)
    outcome.unexplained.push("a search waited for the lock");
}

/** Nothing of the log can be given back while somebody reads what it holds; afterwards it does not go on growing. */
async function readFor(file: string, writers: Writers, outcome: Outcome): Promise<void> {
  const other = new Sqlite(file, { readonly: true });
  try {
    other.exec("BEGIN");
    other.prepare("SELECT count(*) FROM events").pluck().get();
    await delay(readingMs);
    await nextAcknowledged(writers, patienceMs);
    other.exec("COMMIT");
  } finally {
    other.close();
  }
  const sizeOfLog = () => statSync(`${file}-wal`).size;
  const grown = sizeOfLog();
  await delay(readingMs);
  const more = sizeOfLog() - grown;
  if (more > moreLogBytes)
    outcome.unexplained.push(
      `the log of ${grown} bytes grew by ${more} after its reader had ended`,
    );
}

async function backUp({ place }: Store, at: number, outcome: Outcome): Promise<void> {
  const copy = join(place.dataDir, `copy-${at}.db`);
  const [code] = await once(spawnCommand(place, ["db", "backup", copy], { quiet: true }), "exit");
  if (code !== 0) outcome.unexplained.push(`a backup ended with ${code}`);
  else rmSync(copy);
}
