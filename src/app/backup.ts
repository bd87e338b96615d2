import { failedPrecondition } from "../errors.ts";
import { heldSince } from "../jobs/hold.ts";
import type { Backup } from "../storage/sqlite/backup.ts";
import type { Config } from "./config.ts";

/**
 * Makes a copy of the embedded store while it serves. The jobs of the copy are held until they are released.
 * @throws FAILED_PRECONDITION BACKUP_BY_PG_DUMP, and what `backupSqlite` throws
 */
export async function backup(
  { databaseUrl }: Config,
  file: string,
  now = new Date(),
): Promise<Backup> {
  if (databaseUrl.kind !== "sqlite") {
    throw failedPrecondition(
      "BACKUP_BY_PG_DUMP",
      "the store is on PostgreSQL: back it up with its own tools, such as pg_dump --format=custom",
    );
  }
  const { backupSqlite } = await import("../storage/sqlite/backup.ts");
  return backupSqlite(databaseUrl.file, file, heldSince(now));
}
