import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { openSqlite } from "../../src/storage/sqlite/driver.ts";
import { openStore, startWorker } from "./place.ts";

/** A process that works on the jobs of a store, notes each delivery in a file, and waits to be killed. */
const [path = "", log = ""] = process.argv.slice(2);
const store = await openStore(
  { open: async (schema) => openSqlite({ path, schema }) },
  () => new Date(),
);
startWorker(
  store,
  async ({ id, key }) => {
    appendFileSync(log, `${key} ${id}\n`);
    await delay(Math.random() * 4);
    return "done";
  },
  { pace: { leaseMs: 150, renewMs: 50 } },
);
setInterval(() => {}, 60_000);
