// `npm run soak`: clients for minutes or hours, and a fault now and then (F31). Ends with 1 when anything was lost or not
// explained.
import { optionsOf } from "../../.ci/options.ts";
import { besideHostile } from "./hostile.ts";
import { soak } from "./f31-soak.ts";
import { type Engine, openArena } from "./store.ts";

const flags = optionsOf(
  "Clients for minutes or hours, and a fault now and then (F31). Ends with 1 when anything was lost or not explained.",
  {
    minutes: ["2", "of all engines together"],
    full: [false, "two hours on each engine"],
    every: ["20", "seconds from one fault to the next"],
    engine: ["", "`sqlite` or `postgres`; both, when it is left out"],
    hostile: [
      false,
      "strangers who spend what they can, in the place of faults; ends with 1 when others pay for it",
    ],
  },
);
const engines = (["sqlite", "postgres"] satisfies Engine[]).filter(
  (engine) => flags.engine === "" || flags.engine === engine,
);
if (engines.length === 0) throw new Error("--engine is sqlite or postgres");
const minutes = flags.full ? 120 : Number(flags.minutes) / engines.length;

for (const engine of engines) {
  await using arena = await openArena(engine);
  const tell = (line: string) => console.log(`  ${engine}: ${line}`);
  if (flags.hostile) {
    const complaints = await besideHostile(arena, { minutes, tell });
    for (const each of complaints) console.log(`      ${each}`);
    if (complaints.length > 0) process.exitCode = 1;
    continue;
  }
  const everyMs = Number(flags.every) * 1_000;
  const { struck, acknowledged, lost, unexplained } = await soak(arena, { minutes, everyMs, tell });
  console.log(
    `F31  ${engine.padEnd(8)}  struck ${struck}  acknowledged ${acknowledged}  lost ${lost.length}  unexplained ${unexplained.length}`,
  );
  for (const each of [...lost, ...unexplained].slice(0, 20)) console.log(`      ${each}`);
  if (lost.length + unexplained.length > 0 || struck === 0) process.exitCode = 1;
}
