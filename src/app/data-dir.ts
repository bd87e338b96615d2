import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { failedPrecondition } from "../errors.ts";

/** @throws FAILED_PRECONDITION DATA_DIR_UNUSABLE */
export function makeDataDir(path: string): void {
  try {
    makeFolder(path);
  } catch (cause) {
    throw failedPrecondition(
      "DATA_DIR_UNUSABLE",
      `the data folder ${path} cannot be made: IDSVC_DATA_DIR must name a folder, or a place where one can be made`,
      { cause },
    );
  }
}

/** With the folders above it. What `mkdir` of Node does by itself (`recursive`) never ends below /proc. */
function makeFolder(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process has made it meanwhile.
    if (!existsSync(path) || !statSync(path).isDirectory()) throw error;
  }
}
