// `npm run bench:against -- --baseline FOLDER`: this build beside another checkout of the service, in turn, by requests
// that both understand. Each round starts both anew: the same build is up to a tenth quicker in one process than in the next
// (where its memory lies, what was compiled when), and an interval over rounds of one process would not show it. See README.md.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { optionsOf } from "../../.ci/options.ts";
import { rowsOf, type Row, startBuild } from "./builds.ts";
import { median } from "./judge.ts";
import { type BenchCase, type Sample, sampleOf } from "./measure.ts";
import { type Child, tools } from "./process.ts";
import { root } from "./store.ts";

const flags = optionsOf(
  "This build beside another checkout of the service, in turn, by requests that both understand.",
  {
    baseline: ["", "the folder of the other checkout, with its packages installed and `gen/` made"],
    rounds: ["20", "how often both are started anew"],
    turns: [
      "6",
      "how often both builds have a turn in a round, of so many seconds: machines change their speed within seconds",
    ],
    seconds: ["0.5", "how long a turn is"],
    warm: [
      "5",
      "how long a row is driven before it counts: tokens are half as many in the first four seconds as after them",
    ],
    cores: [
      "one",
      "`one`: both builds on one core and the load on another; `all`: wherever the system runs them",
    ],
    connections: [
      "",
      "so many clients call at once where a request waits for the disk, each again when it has its answer; else as the row says",
    ],
    traced: [
      "",
      "this build traces this part of all requests, to a collector that takes everything; the baseline traces nothing",
    ],
    only: ["", "a regular expression of row names"],
  },
);
if (flags.baseline === "") throw new Error("--baseline FOLDER is missing");
const [rounds, turns] = [Number(flags.rounds), Number(flags.turns)];
const [seconds, warmSeconds] = [Number(flags.seconds), Number(flags.warm)];
if (flags.cores === "all") tools.taskset = false;
const caseOf = ({ pid }: Child, { name, load, waits }: Row): BenchCase => ({
  name,
  pid,
  load:
    waits && flags.connections !== "" ? { ...load, connections: Number(flags.connections) } : load,
  verify: async () => {},
});

/** Geometric mean of ratios and its 95 % interval, by the normal approximation of their logarithms. */
function interval(ratios: readonly number[]): { mean: number; low: number; high: number } {
  const logs = ratios.map(Math.log);
  const mean = logs.reduce((sum, each) => sum + each, 0) / logs.length;
  const variance = logs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (logs.length - 1);
  const half = 1.96 * Math.sqrt(variance / logs.length);
  return { mean: Math.exp(mean), low: Math.exp(mean - half), high: Math.exp(mean + half) };
}

type Rates = { before: number[]; after: number[] };
const sideNames = ["before", "after"] as const;

/** Requests a second of all samples together, and a second of the server's processor time. */
function pooled(samples: readonly Sample[]): Pick<Sample, "rate" | "cpuRate"> {
  const sum = (of: (sample: Sample) => number) =>
    samples.reduce((all, sample) => all + of(sample), 0);
  const requests = sum((sample) => sample.requests);
  // Half a second in which nothing was answered tells nothing of the processor.
  const cpuSeconds = sum(({ requests: some, cpuRate }) => (some === 0 ? 0 : some / cpuRate));
  return {
    rate: requests / sum((sample) => sample.seconds),
    cpuRate: requests / cpuSeconds,
  };
}

/** How much more the build needs than the baseline, round by round. */
function costOf({ before, after }: Rates): string {
  const ratios = before.map((rate, round) => rate / (after[round] ?? Number.NaN));
  const percent = (ratio: number) => `${((ratio - 1) * 100).toFixed(1)} %`;
  const { mean, low, high } = interval(ratios);
  return `${percent(mean)} (${percent(low)} to ${percent(high)})`;
}

const builds = { before: resolve(flags.baseline), after: root };
const collector = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200).end());
});
const tracedEnv = flags.traced === "" ? {} : await tracedBy(flags.traced);

async function tracedBy(part: string): Promise<Record<string, string>> {
  await once(collector.listen(0, "127.0.0.1"), "listening");
  collector.unref();
  const { port } = collector.address() as AddressInfo;
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: part,
  };
}

/** By row: what each round told. */
const found = new Map<string, { waits: boolean; rates: Rates; cpu: Rates }>();

async function takeRound(round: number): Promise<void> {
  await using running = new AsyncDisposableStack();
  const started = async (folder: string, env: Record<string, string>) => {
    const { child, token } = await startBuild(folder, env);
    running.use(child);
    return { child, rows: await rowsOf(child, token, flags.only) };
  };
  const [before, after] = await Promise.all([
    started(builds.before, {}),
    started(builds.after, tracedEnv),
  ]);
  for (const [at, row] of after.rows.entries()) {
    const other = before.rows[at];
    if (other === undefined) throw new Error(`the baseline has no ${row.name}`);
    const cases = { before: caseOf(before.child, other), after: caseOf(after.child, row) };
    for (const each of Object.values(cases)) await sampleOf(each, warmSeconds);
    const samples: Record<keyof Rates, Sample[]> = { before: [], after: [] };
    for (let turn = 0; turn < turns; turn++) {
      // Each goes first in every other turn.
      const order = (round * turns + turn) % 2 === 0 ? sideNames : sideNames.toReversed();
      for (const side of order) samples[side].push(await sampleOf(cases[side], seconds));
    }
    const { waits } = row;
    const empty = (): Rates => ({ before: [], after: [] });
    const { rates, cpu } = found.get(row.name) ?? { rates: empty(), cpu: empty() };
    found.set(row.name, { waits, rates, cpu });
    for (const side of sideNames) {
      const { rate, cpuRate } = pooled(samples[side]);
      rates[side].push(waits ? rate : cpuRate);
      cpu[side].push(cpuRate);
    }
  }
}

for (let round = 0; round < rounds; round++) await takeRound(round);
process.stdout.write(
  "row             baseline      build  cost (95 % interval)          of processor time alone\n",
);
for (const [name, { waits, rates, cpu }] of found) {
  const cells = [median(rates.before), median(rates.after)].map((rate) =>
    rate.toFixed(0).padStart(10),
  );
  const costs = [costOf(rates).padEnd(28), ...(waits ? [costOf(cpu)] : [])].join("  ");
  process.stdout.write(`${name.padEnd(14)}${cells.join(" ")}  ${costs}\n`);
}
