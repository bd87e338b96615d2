import { enableCompileCache } from "node:module";
import { join } from "node:path";

// The one file of JavaScript: Node would load its reader of TypeScript for it, for 70 ms and 17 MiB, and needs it for no
// other file of the start once those are kept.
//
// Compiled code is kept beside the packages: whoever may write there could change the sources as well, which is not so
// of the shared folder that Node would take. Where nothing can be written, nothing is kept.
enableCompileCache(join(import.meta.dirname, "../node_modules/.cache/idsvc"));

const { run } = await import("./cli/run.ts");
process.exitCode = await run(process.argv.slice(2), process.env);
