// `npm run bench:rebuild`: how many events a second a rebuild of the projections replays, beside the same events and rows inserted
// raw, and how long it holds the event loop.
import { join } from "node:path";
import type Sqlite from "better-sqlite3";
import { rebuildProjections } from "../../src/projection/rebuild.ts";
import { measureHolds } from "../support/loop-holds.ts";
import { optionsOf } from "../../.ci/options.ts";
import { openRaw } from "./raw-append.ts";
import { printVerdict } from "./report.ts";
import { newStore, seed, type Store, withKernel } from "./store.ts";

const values = optionsOf(
  "How many events a second a rebuild of the projections replays, beside the same events and rows inserted raw.",
  {
    events: ["50000", "how many events"],
  },
);
const events = Number(values.events);
const tables = ["events", "targets"];
const rowsATransaction = 100;

/** The seconds that the events and the rows that follow from them take as bare inserts into the same tables, indexes included. */
function rawSeconds({ file, dir }: Store): number {
  const [from, to] = [openRaw(file), openRaw(join(dir, "raw.db"))];
  const rows = tables.map((table) => copyTable(from, to, table));
  const began = performance.now();
  for (let at = 0; at < events; at += rowsATransaction) {
    to.exec("BEGIN IMMEDIATE");
    for (const { values: all, insert } of rows) {
      for (const row of all.slice(at, at + rowsATransaction)) insert.run(...row);
    }
    to.exec("COMMIT");
  }
  const seconds = (performance.now() - began) / 1000;
  from.close();
  to.close();
  return seconds;
}

function copyTable(from: Sqlite.Database, to: Sqlite.Database, table: string) {
  const made = from.prepare(
    "SELECT sql FROM sqlite_master WHERE type IN ('table', 'index') AND tbl_name = ? AND sql IS NOT NULL",
  );
  for (const sql of made.pluck().all(table)) to.exec(String(sql));
  const read = from.prepare(`SELECT * FROM "${table}" LIMIT ?`).raw();
  const all = read.all(events) as unknown[][];
  const marks = read.columns().map(() => "?");
  return { values: all, insert: to.prepare(`INSERT INTO "${table}" VALUES (${marks.join(", ")})`) };
}

using store = await newStore();
const { rate, heldMs } = await withKernel(store, async (kernel) => {
  await seed(kernel, store.made.instance_id, events);
  const began = performance.now();
  using holds = measureHolds();
  await rebuildProjections(kernel, kernel.projectionTables);
  const seconds = (performance.now() - began) / 1000;
  return { rate: events / seconds, heldMs: holds.longestMs() };
});
const raw = events / rawSeconds(store);
console.log(
  `${events} events: ${Math.round(rate)} a second, raw ${Math.round(raw)}, the event loop held for ${heldMs.toFixed(1)} ms of the processor at most`,
);
printVerdict("rebuild", rate, { "of raw": rate / raw, "held ms": heldMs });
