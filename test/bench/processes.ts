// `npm run bench:processes`: the service by one process and by two (IDSVC_PROCESSES), in turn, on either database: requests a second of
// processor time of all its processes together, those of the database left out. All run on one core, and the load on the
// other, so that what two processes cost is seen and not what two cores give. See README.md.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { freshDatabase } from "../support/postgres.ts";
import { rowsOf, type Row, startBuild } from "./builds.ts";
import { median } from "./judge.ts";
import { runLoad } from "./load/load.ts";
import { type Child, cpuSeconds } from "./process.ts";
import { root } from "./store.ts";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "10" },
    seconds: { type: "string", default: "2" },
    /** So many clients call at once, each the next time when it has its answer. */
    connections: { type: "string", default: "32" },
    /** `sqlite` or `postgres`. */
    engine: { type: "string", default: "postgres" },
    /** How long each process is driven by each row before it counts: code is compiled by how often it runs. */
    warm: { type: "string", default: "10" },
    /** A regular expression of row names. */
    only: { type: "string", default: "^(token|introspection|get-target|create-target)$" },
  },
});
const [rounds, seconds] = [Number(flags.rounds), Number(flags.seconds)];
const warmSeconds = Number(flags.warm);
const connections = Number(flags.connections);

/** At least this part of the rate of one is asked of two (Q2). */
const mustRead = 0.85;
const mustWrite = flags.engine === "postgres" ? 0.75 : mustRead;
const must: Record<string, number> = { token: mustWrite, "create-target": mustWrite };

/** A process, and those that it has started. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return [pid, ...children.split(" ").filter(Boolean).map(Number)];
}

const usedBy = ({ pid }: Child): number =>
  familyOf(pid).reduce((sum, each) => sum + cpuSeconds(each), 0);

async function rateOf(child: Child, { load }: Row, lasting: number): Promise<number> {
  const before = usedBy(child);
  const { requests, problem } = await runLoad({ ...load, connections }, lasting);
  if (problem !== "") throw new Error(problem);
  return requests / (usedBy(child) - before);
}

await using running = new AsyncDisposableStack();
const sides = await Promise.all(
  [1, 2].map(async (count) => {
    const env: Record<string, string> = { IDSVC_PROCESSES: String(count) };
    if (flags.engine === "postgres") {
      env["IDSVC_DATABASE_URL"] = running.use(await freshDatabase()).url;
    }
    const { child, token } = await startBuild(root, env);
    running.use(child);
    const rates = new Map<string, number[]>();
    return { count, child, rows: await rowsOf(child, token, flags.only), rates };
  }),
);
for (const { count, child, rows } of sides)
  for (const row of rows) await rateOf(child, row, warmSeconds * count);
for (let round = 0; round < rounds; round += 1) {
  for (const { child, rows, rates } of round % 2 === 0 ? sides : sides.toReversed()) {
    for (const row of rows) {
      const rate = await rateOf(child, row, seconds);
      rates.set(row.name, [...(rates.get(row.name) ?? []), rate]);
    }
  }
}
const [one, two] = sides;
process.stdout.write("row             one process    two processes   ratio   must\n");
for (const { name } of one?.rows ?? []) {
  const [before, after] = [one, two].map((side) => side?.rates.get(name) ?? []);
  const ratios = (before ?? []).map((rate, round) => (after?.[round] ?? Number.NaN) / rate);
  const least = must[name] ?? mustRead;
  const cells = [before, after].map((rates) =>
    median(rates ?? [])
      .toFixed(0)
      .padStart(12),
  );
  const ratio = median(ratios);
  process.stdout.write(
    `${name.padEnd(14)}${cells.join("     ")}${ratio.toFixed(2).padStart(10)}${String(least).padStart(7)}\n`,
  );
  if (!(ratio >= least)) process.exitCode = 1;
}
