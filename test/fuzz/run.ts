// `npm run fuzz`: inputs that nobody would send, over the whole service (decision 0090). Ends with 1 when one breaks it; what
// is found belongs into regressions.ts.
import { monitorEventLoopDelay } from "node:perf_hooks";
import fc from "fast-check";
import { optionsOf } from "../../.ci/options.ts";
import { authorityFlags, searchAloud } from "./authority/spawn.ts";
import { startTried, targets } from "./targets.ts";

// A search of its own kind, by steps and not by time: in a process whose sources are changed as they are loaded.
const ofAuthority = authorityFlags(process.argv.slice(2));
if (ofAuthority !== undefined) process.exit(await searchAloud(ofAuthority));

const flags = optionsOf(
  "Inputs that nobody would send, over the whole service. Ends with 1 when one breaks it. `--only authority --help` tells of the search for power.",
  {
    seconds: ["60", "for all targets together"],
    seed: ["", "begins the inputs that this number began before"],
    only: ["", "names, separated by commas"],
  },
);
const seed = flags.seed === "" ? Date.now() % 2 ** 31 : Number(flags.seed);
const names = flags.only.split(",").filter((name) => name !== "");
const unknown = names.filter((name) => !targets.some((target) => target.name === name));
if (unknown.length > 0) throw new Error(`there is no target ${unknown.join(", ")}`);
const chosen = targets.filter(({ name }) => names.length === 0 || names.includes(name));
const eachMs = (Number(flags.seconds) * 1_000) / chosen.length;

const strays: unknown[] = [];
process.on("unhandledRejection", (error) => strays.push(error));
process.on("uncaughtException", (error) => strays.push(error));

console.log(`seed ${seed}, ${flags.seconds} s`);
await using peer = await startTried();
// Of this process: what inputs are made of is among it.
const held = monitorEventLoopDelay({ resolution: 1 });
held.enable();
const inMs = (nanoseconds: number) => `${Math.round(nanoseconds / 1e6)} ms`;
for (const target of chosen) {
  await target.ready?.();
  held.reset();
  const found = await fc.check(target.property(peer) as fc.IAsyncProperty<unknown>, {
    seed,
    numRuns: 1_000_000_000,
    plugins: [fc.interruptAfterTimeLimit(eachMs)],
  });
  await target.close?.();
  console.log(
    `${target.name.padEnd(12)} ${String(found.numRuns).padStart(7)} runs ${found.failed ? "FAILED" : "ok"}, event loop p99 ${inMs(held.percentile(99))}, worst ${inMs(held.max)}`,
  );
  if (found.failed) {
    console.log(
      `  { target: "${target.name}", seed: ${found.seed}, path: "${found.counterexamplePath}" }`,
    );
    console.log(fc.defaultReportMessage(found));
    console.log(found.errorInstance);
    process.exitCode = 1;
  }
}
for (const stray of strays) console.log("nobody caught", stray);
if (strays.length > 0) process.exitCode = 1;
