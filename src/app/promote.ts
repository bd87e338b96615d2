import { existsSync } from "node:fs";
import type { Logger } from "pino";
import { storeMissing } from "../storage/refusals.ts";
import { failedPrecondition, invalidArgument } from "../errors.ts";
import { holdJobs } from "../jobs/hold.ts";
import type { Checksum } from "../storage/rows.ts";
import type { Config } from "./config.ts";
import { openKernel } from "./kernel.ts";

type Surroundings = { logger: Logger; onProgress: (table: string, rows: number) => void };

/**
 * Copies the embedded store, which nobody else may have open, into an empty database of PostgreSQL, and gives the
 * checksums by which both are equal. Cut short it has done nothing, and can be begun again.
 *
 * Afterwards the jobs of the old store are held: what both hold is the new one's to do.
 * @throws INVALID_ARGUMENT TARGET_URL_WRONG; FAILED_PRECONDITION SOURCE_NOT_SQLITE, STORE_MISSING, STORE_IN_USE, and what
 * `importStore` throws
 */
export async function promote(
  config: Config,
  to: string,
  { logger, onProgress }: Surroundings,
): Promise<Map<string, Checksum>> {
  if (!/^postgres(ql)?:\/\//.test(to) || !URL.canParse(to)) {
    throw invalidArgument(
      "TARGET_URL_WRONG",
      "--to must be postgres://user:password@host:5432/name",
    );
  }
  const { databaseUrl } = config;
  if (databaseUrl.kind !== "sqlite") {
    throw failedPrecondition(
      "SOURCE_NOT_SQLITE",
      "IDSVC_DATABASE_URL leads to PostgreSQL: leave it out, or name the SQLite file to copy",
    );
  }
  if (!existsSync(databaseUrl.file)) {
    throw storeMissing(databaseUrl.file);
  }
  await using kernel = await openKernel(config, { logger, alone: true });
  const { importStore } = await import("../storage/postgres/import.ts");
  const { schema, db } = kernel;
  const sums = await importStore({ url: to, schema, source: db, onProgress });
  await holdJobs(db, kernel.now());
  return sums;
}
