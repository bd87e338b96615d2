import { randomBytes, randomInt } from "node:crypto";
import { closeSync, copyFileSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { checkInto, countInto, type Fault, newOutcome, nextAcknowledged, pause } from "./fault.ts";
import { refusesToStart } from "./f04-read-only.ts";
import { startServer } from "./server.ts";
import { newStore, token } from "./store.ts";
import { createWriters } from "./writers.ts";

const patienceMs = 20_000;

const pageBytes = 4_096;
// More than there are free pages, of which none is missed.
const damagedPages = 8;
const parts = ["idsvc.db", "idsvc.db-wal", "idsvc.db-shm"];

type Damage = { what: string; strike(folder: string, other: string): void };
const damages: Damage[] = [
  {
    what: "a file that is no database",
    strike(folder) {
      const file = openSync(join(folder, "idsvc.db"), "r+");
      writeSync(file, "Dear reader, this is no database.", 0);
      closeSync(file);
      rmSync(join(folder, "idsvc.db-wal"));
      rmSync(join(folder, "idsvc.db-shm"));
    },
  },
  { what: "a missing log", strike: (folder) => rmSync(join(folder, "idsvc.db-wal")) },
  {
    what: "the file of another service",
    strike(folder, other) {
      for (const part of parts) rmSync(join(folder, part));
      copyFileSync(join(other, "idsvc.db"), join(folder, "idsvc.db"));
    },
  },
  {
    what: "damaged pages",
    strike(folder) {
      const path = join(folder, "idsvc.db");
      // What stands in the log would be read instead of the page.
      const store = new Sqlite(path);
      store.pragma("wal_checkpoint(TRUNCATE)", { simple: true });
      store.close();
      const pages = Math.floor(statSync(path).size / pageBytes);
      const file = openSync(path, "r+");
      for (let nth = 0; nth < damagedPages; nth++) {
        writeSync(file, randomBytes(pageBytes), 0, pageBytes, randomInt(1, pages) * pageBytes);
      }
      closeSync(file);
    },
  },
  {
    what: "a store of a newer build",
    strike(folder) {
      const store = new Sqlite(join(folder, "idsvc.db"));
      store.pragma("user_version = 1000000");
      store.close();
    },
  },
];

/** What lies in the data folder of a killed server is not its store: a start is refused, and well again with what it was. */
export const wrongFiles: Fault = {
  id: "F07",
  title: "no database, no log, another's file, damaged pages, a newer build's: refused",
  engines: ["sqlite"],
  rounds: { usual: 5, full: 100 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using other = await newStore();
    await (await startServer(other.place)).stop();
    await using store = await arena.newStore();
    const { dataDir } = store.place;
    const writers = createWriters(8, token);
    for (; outcome.rounds < rounds; outcome.rounds++) {
      await using server = await startServer(store.place);
      await using running = writers.run(server.url);
      await nextAcknowledged(writers, patienceMs);
      await pause(50, 300);
      await server.kill();
      await running.stop();
      const kept = (part: string) => join(dataDir, `${part}.kept`);
      for (const part of parts) copyFileSync(join(dataDir, part), kept(part));
      const damage = damages[outcome.rounds % damages.length];
      damage?.strike(dataDir, other.place.dataDir);
      outcome.struck += 1;
      if (!(await refusesToStart(store)))
        outcome.unexplained.push(`a start with ${damage?.what} went on`);
      for (const part of parts) {
        rmSync(join(dataDir, part), { force: true });
        copyFileSync(kept(part), join(dataDir, part));
      }
      await checkInto(outcome, store, writers);
    }
    countInto(outcome, writers);
    return outcome;
  },
};
