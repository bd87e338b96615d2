// Times raw commits beside a load: `raw-commit.ts <folder> <seconds>` prints the median in milliseconds.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { median } from "./judge.ts";
import { openRaw } from "./raw-append.ts";

// So seldom that the load hardly waits for it, and often enough for a median of one second.
const everyMs = 50;

const [dir = "", seconds = "1"] = process.argv.slice(2);
const end = performance.now() + Number(seconds) * 1000;
const file = join(dir, `raw-commit-${process.pid}.db`);
const db = openRaw(file);
db.exec("CREATE TABLE row (at INTEGER PRIMARY KEY, text TEXT)");
const insert = db.prepare("INSERT INTO row (text) VALUES (?)");
const times: number[] = [];
do {
  const began = performance.now();
  insert.run("a row of the size of an event".repeat(10));
  times.push(performance.now() - began);
  await delay(everyMs);
} while (performance.now() < end);
db.close();
for (const ending of ["", "-wal", "-shm"]) rmSync(`${file}${ending}`, { force: true });
process.stdout.write(String(median(times)));
