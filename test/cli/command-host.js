// Runs commands one after the other (`command.ts`): each line of its input is the arguments and the environment of one. A zero byte ends
// what a command says on either output, and its exit code follows. It begins as `src/main.js` does.
import "../../src/hardened.js";
import { writeSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const kept = join(import.meta.dirname, "../../node_modules/.cache/idsvc");
// Each command listens to the process and its outputs for as long as that lives.
for (const each of [process, process.stdout, process.stderr]) each.setMaxListeners(0);
module.enableCompileCache(kept);
process.env["NODE_COMPILE_CACHE"] = kept;
await import("../../src/resolve.js");
const { run } = await import("../../src/cli/run.ts");

for await (const line of createInterface({ input: process.stdin })) {
  const { args, env } = JSON.parse(line);
  const code = await run(args, env);
  for (const output of [2, 1]) writeSync(output, `\0${code}\n`);
}
