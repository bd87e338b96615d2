import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { failedPrecondition } from "../errors.ts";
import type { Config } from "./config.ts";

/**
 * Makes the data folder where it is not there.
 *
 * @throws FAILED_PRECONDITION DATA_DIR_UNUSABLE also where this user may not work in it, as on a volume of somebody else
 */
export function openDataDir(config: Pick<Config, "dataDir" | "databaseUrl">): void {
  const { dataDir } = config;
  try {
    makeFolder(dataDir);
  } catch (cause) {
    throw failedPrecondition(
      "DATA_DIR_UNUSABLE",
      `the data folder ${dataDir} cannot be made: IDSVC_DATA_DIR must name a folder, or a place where one can be made`,
      { cause },
    );
  }
  requireAccess(config);
}

function requireAccess({ dataDir, databaseUrl }: Pick<Config, "dataDir" | "databaseUrl">): void {
  const writing = databaseUrl.kind === "sqlite" ? constants.W_OK : 0;
  try {
    accessSync(dataDir, constants.R_OK | constants.X_OK | writing);
  } catch (cause) {
    const isReadOnly = cause instanceof Error && "code" in cause && cause.code === "EROFS";
    const user = process.getuid?.();
    throw failedPrecondition(
      "DATA_DIR_UNUSABLE",
      isReadOnly
        ? `the data folder ${dataDir} is on a read-only file system: mount a volume there that can be written, or name another folder by IDSVC_DATA_DIR`
        : `user ${user} may not read and write the data folder ${dataDir}, which belongs to user ${statSync(dataDir).uid}: run as that user, or give the folder to this one (chown -R ${user} ${dataDir})`,
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
