import { extname } from "node:path";
import { fileURLToPath } from "node:url";

// What those that start processes which serve a store together know of it.
export { newProcessName } from "../storage/process-name.ts";
export type { SharedStore } from "../storage/sqlite/serving.ts";
export type { FromWriter } from "../storage/sqlite/writer-process.ts";

/** The program of the process that writes a store of SQLite for all: its arguments are the file, the socket and the build. */
export const writerScript = fileURLToPath(
  new URL(`../storage/sqlite/writer-process${extname(import.meta.url)}`, import.meta.url),
);
