import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../storage/sqlite-place.ts";
import { check } from "./checker.ts";
import { acknowledgedInLog, type Entry } from "./client-log.ts";
import { checkInto, countInto, type Fault, newOutcome, nextAcknowledged, pause } from "./fault.ts";
import { freePort } from "../support/free-port.ts";
import { type Place, spawnCommand, startServer } from "./server.ts";
import { token } from "./store.ts";
import { createWriters } from "./writers.ts";

const patienceMs = 20_000;

type Backup = { file: string; before: number };

/** Backups of a store that is written to: each is a prefix of history that the checker finds sound, and goes on above it. */
export const backedUp: Fault = {
  id: "F27",
  title: "online backups, each restored and written on",
  // PostgreSQL has tools of its own for it.
  engines: ["sqlite"],
  rounds: { usual: 4, full: 100 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using store = await arena.newStore();
    const { place } = store;
    const writers = createWriters(8, token);
    await using server = await startServer(place);
    const backups: Backup[] = [];
    try {
      await using running = writers.run(server.url);
      await nextAcknowledged(writers, patienceMs);
      while (backups.length < rounds) {
        await pause(50, 300);
        const backup = {
          file: join(place.dataDir, `backup-${backups.length}`),
          before: writers.log.length,
        };
        const child = spawnCommand(place, ["db", "backup", backup.file], { quiet: true });
        const [code] = await once(child, "exit");
        if (code !== 0) outcome.unexplained.push(`a backup ended with ${code}`);
        else if ((statSync(backup.file).mode & 0o777) !== 0o600)
          outcome.unexplained.push("others may read a backup");
        backups.push(backup);
        outcome.struck += 1;
      }
      await running.stop();
    } finally {
      await server.stop();
    }
    await checkInto(outcome, store, writers);
    countInto(outcome, writers);
    const history = eventsOf(place);
    for (const backup of backups) {
      outcome.lost.push(...(await restore(place, backup, writers.log, history)));
      outcome.rounds += 1;
    }
    return outcome;
  },
};

/** What is wrong with a backup, as the README has it restored: under the name of the store, beside the master key. */
async function restore(
  from: Place,
  { file, before }: Backup,
  log: readonly Entry[],
  history: readonly string[],
): Promise<string[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "idsvc-restored-"));
  try {
    const copy = { ...from, dataDir, port: await freePort() };
    copyFileSync(file, storeIn(copy));
    copyFileSync(join(from.dataDir, "master.key"), join(dataDir, "master.key"));
    const wrong = await check(copy, knownBefore(log, before));
    const prefix = eventsOf(copy);
    if (prefix.length === 0 || !isPrefix(prefix, history)) wrong.push(`${file} is no prefix`);

    const head = headOf(copy);
    const later = createWriters(4, token);
    await using server = await startServer(copy);
    const writing = later.run(server.url);
    await nextAcknowledged(later, patienceMs);
    await writing.stop();
    if ((await server.stop()) !== 0) wrong.push(`the restored ${file} did not stop in order`);
    const below = acknowledgedInLog(later.log).filter(({ sequence }) => sequence <= head);
    if (below.length > 0) wrong.push(`${below.length} writes on ${file} are not above it`);
    if (!isPrefix(prefix, eventsOf(copy))) wrong.push(`history of ${file} changed`);
    return wrong;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** What clients know of a store that went back: of an answer that came after the backup had begun, nothing. */
const knownBefore = (log: readonly Entry[], count: number): Entry[] =>
  log.map((entry, at) =>
    at < count || entry.outcome !== "acknowledged" ? entry : { ...entry, outcome: "unknown" },
  );

const isPrefix = (start: readonly string[], whole: readonly string[]): boolean =>
  start.every((event, at) => whole[at] === event);

const storeIn = ({ dataDir }: Place) => join(dataDir, "idsvc.db");

/** Every event as it is stored, in the order of the log. */
export function eventsOf(place: Place): string[] {
  using connection = connect(storeIn(place));
  const events = "SELECT * FROM events ORDER BY instance_id, sequence";
  return connection
    .prepare(events)
    .raw()
    .all()
    .map((row) => JSON.stringify(row));
}

function headOf(place: Place): number {
  using connection = connect(storeIn(place));
  return Number(connection.prepare("SELECT max(last) FROM sequences").pluck().get());
}
