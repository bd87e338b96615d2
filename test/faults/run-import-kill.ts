// `npm run import:kill`: a large import that is killed on its way (F29). Ends with 1 when it is not as it was foreseen.
import { optionsOf } from "../../.ci/options.ts";
import { importAndKill } from "./import-kill.ts";
import { openArena } from "./store.ts";

const flags = optionsOf(
  "A large import that is killed on its way (F29). Ends with 1 when it is not as it was foreseen.",
  {
    users: ["100000", "how many users"],
    kills: ["3", "how often it is killed"],
    engine: ["sqlite", "`sqlite` or `postgres`"],
  },
);
const { engine } = flags;
if (engine !== "sqlite" && engine !== "postgres") throw new Error("--engine is sqlite or postgres");
await using arena = await openArena(engine);
await using store = await arena.newStore();
const asked = { users: Number(flags.users), kills: Number(flags.kills) };
const { violations, forecastSeconds, seconds, highestRssMb } = await importAndKill(store, asked);
const [foreseen, took] = [forecastSeconds, seconds].map((each) => each.toFixed(1));
console.log(
  `${asked.users} users on ${engine}: foreseen in ${foreseen} s, imported in ${took} s with ${asked.kills} kills, ` +
    `${Math.round(asked.users / seconds)} users/s, at most ${Math.round(highestRssMb)} MB`,
);
for (const each of violations) console.log(`  ${each}`);
if (violations.length > 0) process.exitCode = 1;
