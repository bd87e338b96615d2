import { appendFileSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import Sqlite from "better-sqlite3";
import { type Goals, judge, median, ratioOf, spread, type Verdict } from "./judge.ts";
import type { Measured } from "./measure.ts";
import { stolen, tools } from "./process.ts";
import type { RowPlan } from "./rows.ts";

export const goals = JSON.parse(
  readFileSync(join(import.meta.dirname, "goals.json"), "utf8"),
) as Goals;

export type RowResult = {
  id: string;
  row: string;
  title: string;
  service: number;
  peer?: number;
  floor?: number;
  p50?: number;
  p99?: number;
  core?: number;
  measures: Record<string, number>;
  verdict: Verdict;
};

export type Machine = {
  model: string;
  cores: number;
  node: string;
  sqlite: string;
  hello: number;
  helloSpread: number;
  stolen: number;
  generators: string;
  noisy: boolean;
};

/**
 * The line of a row, out of what its cases gave. Rates are per core: requests a second of the
 * server's processor time, so that neither what others take from the core nor a slow generator counts. Where the disk
 * is waited for they are requests a second.
 */
export function rowResult(plan: RowPlan, measured: ReadonlyMap<string, Measured>): RowResult {
  const { id, service, peers = {}, floor, waits = false } = plan;
  const ratesOf = (each: Measured | undefined) => (waits ? each?.rates : each?.cpuRates) ?? [];
  const of = (name: string | undefined) => (name === undefined ? undefined : measured.get(name));
  const own = of(service);
  const names = [service, ...Object.values(peers), floor].filter((name) => name !== undefined);
  const problem = names
    .map((name) => [name, of(name)?.problem ?? "was not measured"] as const)
    .filter(([, what]) => what !== "")
    .map(([name, what]) => `${name}: ${what}`)
    .join("; ");
  const rates = ratesOf(own);
  const samples = own?.samples ?? [];
  const measures: Record<string, number> = {};
  for (const [label, name] of Object.entries(peers)) {
    measures[`x ${label}`] = ratioOf(rates, ratesOf(of(name)));
  }
  if (floor !== undefined) measures["of floor"] = ratioOf(rates, ratesOf(of(floor)));
  const middle = (pick: "p50" | "p99" | "core") => median(samples.map((sample) => sample[pick]));
  if (samples.length > 0) {
    measures["p50 ms"] = middle("p50");
    measures["p99 ms"] = middle("p99");
    const parts = samples.map((sample) => sample.ofDiskOrCore).filter((part) => part !== undefined);
    if (parts.length > 0) measures["of disk or core"] = median(parts);
  }
  const [firstPeer] = Object.values(peers);
  return {
    ...madeRow(id, median(rates), measures, problem),
    ...(firstPeer === undefined ? {} : { peer: median(ratesOf(of(firstPeer))) }),
    ...(floor === undefined ? {} : { floor: median(ratesOf(of(floor))) }),
    ...(samples.length === 0
      ? {}
      : { p50: middle("p50"), p99: middle("p99"), core: middle("core") }),
  };
}

/** A line of a figure that is no rate. */
export function madeRow(
  id: string,
  value: number,
  measures: Record<string, number>,
  problem = "",
): RowResult {
  const { row, title, checks } = goals[id] ?? { row: "", title: id, checks: [] };
  const verdict: Verdict =
    problem === ""
      ? judge(checks, new Map(Object.entries(measures)))
      : { grade: "failed", text: `FAILED ${problem}`, missed: [] };
  return { id, row, title, service: value, measures, verdict };
}

/** Prints the verdict of a figure that a bench of its own measured; a must that is missed ends the process with 1. */
export function printVerdict(id: string, value: number, measures: Record<string, number>): void {
  const { title, verdict } = madeRow(id, value, measures);
  const figures = Object.entries(measures).map(([name, each]) => `${each.toFixed(2)} ${name}`);
  process.stdout.write(`${title}: ${figures.join(", ")}  ${verdict.text}\n`);
  if (verdict.grade === "missed" || verdict.grade === "failed") process.exitCode = 1;
}

export function machine(
  hello: readonly number[],
  before: { total: number; steal: number },
): Machine {
  const now = stolen();
  const part = ((now.steal - before.steal) / Math.max(1, now.total - before.total)) * 100;
  const sqlite = new Sqlite(":memory:");
  const version = String(sqlite.prepare("SELECT sqlite_version()").pluck().get());
  sqlite.close();
  const helloSpread = spread(hello);
  const [wrk, h2load] = [tools.wrk ? "wrk" : "built-in", tools.h2load ? "h2load" : "built-in"];
  return {
    model: cpus()[0]?.model ?? "",
    cores: cpus().length,
    node: process.version,
    sqlite: version,
    hello: median(hello),
    helloSpread,
    stolen: part,
    generators: `HTTP/1.1 ${wrk}, gRPC ${h2load}, numbered gRPC built-in${tools.taskset ? "" : ", NOT PINNED"}`,
    noisy: helloSpread > 20 || part > 5,
  };
}

const widths = { title: 36, number: 12, ratio: 9 };
const number = (value: number | undefined) =>
  (value === undefined || Number.isNaN(value)
    ? "-"
    : value.toLocaleString("en-US", { maximumFractionDigits: value < 100 ? 1 : 0 })
  ).padStart(widths.number);
const ratio = (value: number | undefined) =>
  (value === undefined || Number.isNaN(value) ? "-" : value.toFixed(value < 0.1 ? 3 : 2)).padStart(
    widths.ratio,
  );
const ms = (value: number | undefined) =>
  (value === undefined ? "-" : value.toFixed(1)).padStart(8);

/** The table of all rows. */
export function table(rows: readonly RowResult[], where: Machine): string {
  const titles = ["service", "peer", "floor"].map((text) => text.padStart(widths.number)).join("");
  const ratios = ["x peer", "of limit"].map((text) => text.padStart(widths.ratio)).join("");
  const times = ["p50", "p99"].map((text) => text.padStart(8)).join("");
  const lines = rows.map((each) => {
    const { title, row, service, peer, floor, p50, p99, core, measures, verdict } = each;
    const more = Object.entries(measures).filter(([name]) => name.startsWith("x "));
    const [first, ...others] = more;
    const other = others.map(([name, value]) => `${value.toFixed(2)}${name}`).join(", ");
    const busy = core === undefined ? "-" : `${core.toFixed(0)} %`;
    return [
      `${row.padStart(2)} ${title}`.padEnd(widths.title),
      number(service),
      number(peer),
      number(floor),
      ratio(first?.[1]),
      ratio(measures["of floor"]),
      ms(p50),
      ms(p99),
      busy.padStart(7),
      `  ${verdict.text}${other === "" ? "" : `  (${other})`}`,
    ].join("");
  });
  const head = `${"row".padEnd(widths.title)}${titles}${ratios}${times}   core  verdict`;
  return [head, ...lines, machineLine(where)].join("\n");
}

export function machineLine(where: Machine): string {
  const { model, cores, node, sqlite, hello, helloSpread, stolen: part, generators, noisy } = where;
  const facts = [
    `${cores} x ${model}`,
    `Node ${node}`,
    `SQLite ${sqlite}`,
    ...(Number.isNaN(hello) ? [] : [`hello ${hello.toFixed(0)}/s ±${helloSpread.toFixed(0)} %`]),
    `stolen ${part.toFixed(0)} %`,
    generators,
  ];
  return `machine: ${facts.join(", ")}${noisy ? "   NOISY: believe nothing but large ratios" : ""}`;
}

/** Appends the run to the history, one line each. */
export function record(rows: readonly RowResult[], where: Machine): void {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  }).trim();
  const line = JSON.stringify({ at: new Date().toISOString(), commit, machine: where, rows });
  appendFileSync(join(import.meta.dirname, "history.jsonl"), `${line}\n`);
}
