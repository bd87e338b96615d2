// `npm run faults`: what must hold when things break (test/faults/README.md). Ends with 1 when anything was lost or not explained.
import { optionsOf } from "../../.ci/options.ts";
import { type Fault, newOutcome, type Outcome, Skipped } from "./fault.ts";
import { faults } from "./faults.ts";
import { type Engine, openArena } from "./store.ts";

const flags = optionsOf(
  "What must hold when things break (test/faults/README.md). Ends with 1 when anything was lost or not explained.",
  {
    full: [false, "the counts of a release: hours instead of minutes"],
    only: ["", "ids, separated by commas"],
    engine: ["", "`sqlite` or `postgres`; both, when it is left out"],
    processes: ["1", "how many processes serve a store that one would serve"],
    rounds: ["", "another number of rounds, for each fault"],
  },
);

type Row = { fault: Fault; engine: Engine; seconds: number; outcome: Outcome; skipped?: string };

const chosenIds = flags.only.split(",").filter((id) => id !== "");
const unknown = chosenIds.filter((id) => !faults.some((fault) => fault.id === id));
if (unknown.length > 0) throw new Error(`there is no fault ${unknown.join(", ")}`);
if (!["", "sqlite", "postgres"].includes(flags.engine))
  throw new Error("--engine is sqlite or postgres");
if (!/^\d*$/.test(flags.rounds)) throw new Error("--rounds is a number");

const roundsOf = ({ rounds }: Fault): number => {
  if (flags.rounds !== "") return Number(flags.rounds);
  return flags.full ? rounds.full : rounds.usual;
};

async function runOne(fault: Fault, engine: Engine): Promise<Row> {
  const start = performance.now();
  const row = (outcome: Outcome, skipped?: string): Row => ({
    fault,
    engine,
    outcome,
    seconds: (performance.now() - start) / 1_000,
    ...(skipped === undefined ? {} : { skipped }),
  });
  try {
    await using arena = await openArena(engine, { processes: Number(flags.processes) });
    return row(await fault.run(arena, roundsOf(fault)));
  } catch (error) {
    if (error instanceof Skipped) return row(newOutcome(), error.message);
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return row({ ...newOutcome(), unexplained: [`the run broke: ${said}`] });
  }
}

const failed = ({ outcome }: Row): boolean => outcome.lost.length + outcome.unexplained.length > 0;

function line({ fault, engine, outcome, seconds, skipped }: Row): string {
  if (skipped !== undefined) return `${fault.id}  ${engine.padEnd(8)}  SKIPPED: ${skipped}`;
  const { rounds, struck, acknowledged, lost, unexplained, remark } = outcome;
  return [
    fault.id,
    engine.padEnd(8),
    `rounds ${String(rounds).padStart(5)}`,
    `struck ${String(struck).padStart(6)}`,
    `acknowledged ${String(acknowledged).padStart(7)}`,
    `lost ${lost.length}`,
    `unexplained ${unexplained.length}`,
    `${seconds.toFixed(1).padStart(6)} s`,
    `${fault.title}${remark === "" ? "" : ` (${remark})`}`,
  ].join("  ");
}

const rows: Row[] = [];
for (const fault of faults) {
  if (chosenIds.length > 0 && !chosenIds.includes(fault.id)) continue;
  for (const engine of fault.engines) {
    if (flags.engine !== "" && flags.engine !== engine) continue;
    const row = await runOne(fault, engine);
    rows.push(row);
    console.log(line(row));
    const { lost, unexplained } = row.outcome;
    for (const each of [...lost, ...unexplained].slice(0, 20)) console.log(`      ${each}`);
  }
}
const total = rows.reduce((sum, { seconds }) => sum + seconds, 0);
console.log(`\n${rows.map(line).join("\n")}\n`);
const bad = rows.filter(failed).length;
const skips = rows.filter(({ skipped }) => skipped !== undefined).length;
console.log(
  `${rows.length} runs in ${Math.round(total)} s: ${bad} failed, ${skips} skipped${bad === 0 ? ", nothing lost" : ""}`,
);
if (bad > 0 || rows.length === 0) process.exitCode = 1;
