import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { storeMissing, storeDamaged } from "../refusals.ts";
import { failedPrecondition } from "../../errors.ts";
import { sequences, storeFacts, storeTables } from "../kernel-tables.ts";

/** Facts that the copy tells of itself, beside those of the store. */
export type Facts = Readonly<Record<string, Uint8Array>>;
export type Backup = { events: bigint; bytes: number };

const pagesAStep = 4_096;

/**
 * Copies the store of a file into a new one, in one state of its history, while other processes go on to write.
 *
 * The file has its name only once it is whole, sound and on disk; it needs no other file beside it, and only its owner may
 * read it. Nothing of the store is changed.
 * @throws FAILED_PRECONDITION STORE_MISSING, BACKUP_FILE_EXISTS, BACKUP_FOLDER_MISSING, BACKUP_FAILED
 */
export async function backupSqlite(from: string, to: string, facts: Facts): Promise<Backup> {
  if (existsSync(to)) throw fileExists(to);
  const folder = dirname(to);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw noFolder(folder);
  const draft = `${to}.${process.pid}.draft`;
  try {
    closeSync(openSync(draft, "wx", 0o600));
    await copy(from, draft);
    const backup = finish(draft, facts);
    flush(draft);
    // Refuses a name that was taken meanwhile, which a rename would not.
    linkSync(draft, to);
    flush(dirname(to));
    return backup;
  } catch (error) {
    if (existsSync(to)) throw fileExists(to);
    if (!(error instanceof Sqlite.SqliteError) && !isSystemError(error)) throw error;
    throw failedPrecondition("BACKUP_FAILED", `the backup was not made (${error.code})`, {
      cause: error,
    });
  } finally {
    for (const end of ["", "-journal"]) rmSync(`${draft}${end}`, { force: true });
  }
}

async function copy(from: string, to: string): Promise<void> {
  if (!existsSync(from)) throw storeMissing(from);
  const connection = new Sqlite(from, { fileMustExist: true });
  try {
    const isStore = connection
      .prepare("SELECT count(*) FROM sqlite_schema WHERE name IN (?, ?)")
      .pluck()
      .get(storeTables.name, sequences.name);
    if (isStore !== 2) throw storeMissing(from);
    // The copy reads within this transaction, so the commits of others neither show in it nor make it begin anew.
    connection.exec(`BEGIN; SELECT 1 FROM ${storeTables.name} LIMIT 1`);
    await connection.backup(to, { progress: () => pagesAStep });
    connection.exec("COMMIT");
  } finally {
    connection.close();
  }
}

function finish(file: string, facts: Facts): Backup {
  const connection = new Sqlite(file, { fileMustExist: true });
  try {
    connection.pragma("journal_mode = DELETE", { simple: true });
    const put = connection.prepare(
      `INSERT OR REPLACE INTO ${storeFacts.name} (name, value) VALUES (?, ?)`,
    );
    for (const [name, value] of Object.entries(facts)) put.run(name, value);
    if (connection.pragma("integrity_check", { simple: true }) !== "ok") {
      throw storeDamaged("failedPrecondition", "the store is damaged: no backup was made of it");
    }
    const ask = (sql: string) => BigInt(Number(connection.prepare(sql).pluck().get()));
    return {
      events: ask(`SELECT coalesce(sum(last), 0) FROM ${sequences.name}`),
      bytes: Number(ask("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")),
    };
  } finally {
    connection.close();
  }
}

function flush(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "syscall" in error;

const noFolder = (path: string) =>
  failedPrecondition(
    "BACKUP_FOLDER_MISSING",
    `${path} is no folder: make it, or name a file in one that is there`,
  );

const fileExists = (path: string) =>
  failedPrecondition("BACKUP_FILE_EXISTS", `${path} is there already: name a new file`);
