import { enableCompileCache } from "node:module";
import { join } from "node:path";

// What `src/main.js` does for the service, for peers whose start is measured: else Node would load its reader of
// TypeScript for them, for a third to a half of their time.
enableCompileCache(join(import.meta.dirname, "../../../node_modules/.cache/idsvc-bench"));

// The peer sees the command line that it would have without this file.
process.argv.splice(1, 1);
await import(process.argv[1]);
