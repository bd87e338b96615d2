import { appendFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { openSqlite } from "../../src/storage/sqlite/driver.ts";
import { openStore, startWorker } from "./place.ts";

/** A process that works on the jobs of a store, notes each delivery in a file, so many at most, and waits to be killed. */
const [path = "", log = "", most = ""] = process.argv.slice(2);
let delivered = 0;
const store = await openStore(
  { open: async (schema) => openSqlite({ path, schema }) },
  () => new Date(),
);
startWorker(
  store,
  async ({ id, key }) => {
    if (delivered === Number(most)) await Promise.withResolvers<never>().promise;
    delivered += 1;
    appendFileSync(log, `${key} ${id}\n`);
    await delay(Math.random() * 4);
    return "done";
  },
  { pace: { leaseMs: 150, renewMs: 50 } },
);
setInterval(() => {}, 60_000);
