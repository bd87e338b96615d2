import { chmodSync, existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Logger } from "../telemetry/logger.ts";

const ofOthers = 0o077;

/**
 * Takes the data folder and the files of the service in it from everybody but their owner (J14). What belongs to
 * somebody else, or lies where modes mean nothing, stays as it is, and the log says why.
 */
export function narrowModes(
  dataDir: string,
  databaseFile: string | undefined,
  logger: Logger,
): void {
  const files = readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(dataDir, name));
  const ofDatabase =
    databaseFile === undefined || dirname(databaseFile) === dataDir
      ? []
      : ["", "-wal", "-shm"].map((suffix) => `${databaseFile}${suffix}`).filter(existsSync);
  for (const path of [dataDir, ...files, ...ofDatabase]) narrow(path, logger);
}

function narrow(path: string, logger: Logger): void {
  try {
    const { mode } = statSync(path);
    if ((mode & ofOthers) !== 0) chmodSync(path, mode & 0o700);
    if ((statSync(path).mode & ofOthers) === 0) return;
    logger.warn({ path }, "others can read a file of the service: its file system keeps no modes");
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    logger.warn(
      { path, cause },
      "others may read a file of the service: its mode cannot be changed",
    );
  }
}
