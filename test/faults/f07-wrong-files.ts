import { copyFileSync, openSync, closeSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { checkInto, countInto, type Fault, newOutcome, nextAcknowledged, pause } from "./fault.ts";
import { refusesToStart } from "./f04-read-only.ts";
import { startServer } from "./server.ts";
import { newStore, token } from "./store.ts";
import { createWriters } from "./writers.ts";

const patienceMs = 20_000;
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
  title: "no database, no log, another's file, a newer build's: refused",
  engines: ["sqlite"],
  rounds: { usual: 4, full: 100 },
  async run(arena, rounds) {
    const outcome = newOutcome();
    await using other = await newStore();
    await (await startServer(other.place)).stop();
    await using store = await arena.newStore();
    const { dataDir } = store.place;
    const writers = createWriters(8, token);
    for (; outcome.rounds < rounds; outcome.rounds++) {
      const server = await startServer(store.place);
      const running = writers.run(server.url);
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
      for (const part of parts) copyFileSync(kept(part), join(dataDir, part));
      await checkInto(outcome, store, writers);
    }
    countInto(outcome, writers);
    return outcome;
  },
};
