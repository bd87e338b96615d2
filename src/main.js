import "./hardened.js";
import module from "node:module";
import { join } from "node:path";

// An older one lacks what this file calls, and would say no more than that.
const leastNode = 24;
if (Number.parseInt(process.versions.node, 10) < leastNode) {
  const is = `this is ${process.version} (${process.execPath})`;
  process.stderr.write(
    `idsvc needs Node ${leastNode} or later; ${is}. \`npm start\` takes the one of the packages\n`,
  );
  process.exit(1);
}

// JavaScript, as is what it loads first: Node would load its reader of TypeScript for it, for 70 ms and 17 MiB, and needs it
// for no other file of the start once those are kept.
//
// Compiled code is kept beside the packages: whoever may write there could change the sources as well, which is not so
// of the shared folder that Node would take. Where nothing can be written, nothing is kept.
const kept = join(import.meta.dirname, "../node_modules/.cache/idsvc");
module.enableCompileCache(kept);
// Threads find it, and processes that this one starts.
process.env["NODE_COMPILE_CACHE"] ??= kept;

await import("./resolve.js");
const { run } = await import("./cli/run.ts");
process.exitCode = await run(process.argv.slice(2), process.env);
