// Run: alone, store
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { filePlace } from "../storage/sqlite-place.ts";
import { openStore, ring, stored } from "./place.ts";

const total = 400;
const keys = 20;
const kills = 6;
// Of one process that is killed: were it quicker than who watches it, there would be nothing left for the others.
const mostOfOne = 50;

describe("a worker that is killed while jobs are due (F17)", () => {
  it("leaves none undone, keeps the order of each key, and repeats only what was at work", async () => {
    await using place = await filePlace();
    await using store = await openStore(place, () => new Date());
    const ids = Array.from({ length: total }, (_, at) => `a${String(at).padStart(4, "0")}`);
    for (const [at, id] of ids.entries()) await ring(store, id, { key: `k${at % keys}` });

    const log = join(dirname(place.path), "deliveries");
    let killed = 0;
    for (let isOver = false; !isOver; ) {
      const most = killed < kills ? mostOfOne : total;
      const worker = [join(import.meta.dirname, "killed-worker.ts"), place.path, log, String(most)];
      const child = spawn(process.execPath, [...process.execArgv, ...worker], { stdio: "inherit" });
      const size = () => (existsSync(log) ? readFileSync(log).length : 0);
      const before = size();
      // The kill falls among deliveries, not into the start.
      while (size() < before + 100 && (await stored(store)).length > 0) await delay(2);
      if (killed < kills) killed += 1;
      else while ((await stored(store)).length > 0) await delay(10);
      child.kill("SIGKILL");
      await once(child, "exit");
      isOver = (await stored(store)).length === 0;
    }

    assert.equal(killed, kills);
    const lines = readFileSync(log, "utf8").trim().split("\n");
    const delivered = new Set(lines.map((line) => line.slice(line.indexOf(" ") + 1)));
    assert.deepEqual([...delivered].sort(), ids);
    for (let key = 0; key < keys; key++) {
      const mine = lines.filter((line) => line.startsWith(`k${key} `));
      const first = mine.filter((line, at) => mine.indexOf(line) === at);
      assert.deepEqual(first, first.toSorted(), `order of k${key}`);
      // A repeat follows its first delivery at once: nothing of the key ran between.
      const repeats = mine.filter(
        (line, at) => mine.indexOf(line) < at - 1 && mine[at - 1] !== line,
      );
      assert.deepEqual(repeats, []);
    }
    // At most eight jobs are at work at a kill.
    assert.ok(lines.length <= total + kills * 8, `${lines.length} deliveries`);
  });
});
