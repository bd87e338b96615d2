import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { type DomainError, failedPrecondition } from "../../errors.ts";
import { isBusy, isDamage, isOtherFile } from "./errors.ts";
import { damagedAt } from "./soundness.ts";

const oldestSqlite = [3, 51, 3];

// Connections of this process. Closing any other descriptor of their file, or of its index, releases the locks of all of them; another
// process that closes the store could then delete the write-ahead log (sqlite.org/howtocorrupt.html, section 2.2).
let connections: Sqlite.Database[] = [];

function isOpenHere(path: string): boolean {
  connections = connections.filter((connection) => connection.open);
  return connections.some(({ name }) => name === path);
}

/**
 * Opens the file as a store is used: with a write-ahead log, every commit flushed.
 *
 * @throws FAILED_PRECONDITION STORE_STRAY_LOG, STORE_LOG_MISSING, STORE_IN_USE, STORE_DAMAGED, STORE_UNREADABLE,
 * STORE_DISK_FULL, STORE_DISK_FAILED, SQLITE_TOO_OLD
 */
export function open(path: string, alone: boolean): Sqlite.Database {
  const isFirst = !isOpenHere(path);
  if (isFirst && hasStrayLog(path)) {
    throw failedPrecondition(
      "STORE_STRAY_LOG",
      `${path}-wal belongs to another file than ${path}, such as the store that a backup has replaced: move it and ${path}-shm away`,
    );
  }
  if (isFirst && hasLostLog(path)) {
    throw failedPrecondition(
      "STORE_LOG_MISSING",
      `${path}-wal is missing, and with it what was committed last: put it back; or, to go without, restore a backup or move ${path}-shm away`,
    );
  }
  let connection: Sqlite.Database;
  try {
    connection = new Sqlite(path);
    // With a write-ahead log, whoever has the file open holds a lock that shuts this mode out, and the other way round.
    if (alone) connection.pragma("locking_mode = EXCLUSIVE", { simple: true });
    connection.pragma("journal_mode = WAL", { simple: true });
    connection.exec("SELECT count(*) FROM sqlite_schema");
  } catch (error) {
    if (isBusy(error)) {
      throw failedPrecondition(
        "STORE_IN_USE",
        `the store ${path} is in use by another process: stop it, or wait until it has ended`,
        { cause: error },
      );
    }
    if (isDamage(error) && !isOtherFile(error)) throw damagedAt(path, error);
    const trouble = diskTrouble(path, error);
    if (trouble !== undefined) throw trouble;
    throw failedPrecondition(
      "STORE_UNREADABLE",
      `the store ${path} cannot be opened: check that the folder exists and is writable, and that the file is a database of idsvc`,
      { cause: error },
    );
  }
  const version = String(connection.prepare("SELECT sqlite_version()").pluck().get());
  const parts = version.split(".").map(Number);
  const at = oldestSqlite.findIndex((part, index) => part !== parts[index]);
  if (at !== -1 && (parts[at] ?? 0) < (oldestSqlite[at] ?? 0)) {
    throw failedPrecondition(
      "SQLITE_TOO_OLD",
      `SQLite ${version} is older than ${oldestSqlite.join(".")}`,
    );
  }
  configure(connection);
  connections.push(connection);
  return connection;
}

/** How each connection uses the file. */
export function configure(connection: Sqlite.Database): void {
  connection.pragma("synchronous = FULL", { simple: true });
  connection.pragma("busy_timeout = 0", { simple: true });
  // 16 MiB: a page that many commits change is copied into the file once.
  connection.pragma("wal_autocheckpoint = 4000", { simple: true });
  connection.pragma("cache_size = -65536", { simple: true });
  connection.pragma("temp_store = MEMORY", { simple: true });
  // What is deleted is overwritten: erased people, keys and tokens do not stay in free pages (C7).
  connection.pragma("secure_delete = ON", { simple: true });
}

/**
 * Whether a write-ahead log lies beside a file that has none: SQLite would play it into the file and damage it. A store
 * has the mark of such a log before it has the log, a backup has no mark.
 *
 * Source: sqlite.org/fileformat2.html, section 1.3.3: the byte at 19 is 2 for a file with a write-ahead log.
 */
function hasStrayLog(path: string): boolean {
  if (!existsSync(path) || logBytes(path) === 0) return false;
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(20);
    return readSync(file, header, 0, header.length, 0) === header.length && header[19] === 1;
  } finally {
    closeSync(file);
  }
}

/**
 * Whether the write-ahead log was taken away while it held what the file lacks. Its index, which stays behind when a process
 * is killed, tells how many frames there were and how many of them stand in the file.
 *
 * Another process may have the store open and write to it: it updates the index before it truncates the log, and appends to the log
 * before it updates the index. A missing log is therefore lost only if the index is unchanged when it is read again.
 *
 * Source: sqlite.org/walformat.html, section 2.1: mxFrame at 16, nBackfill at 96, in the byte order of the machine.
 */
function hasLostLog(path: string): boolean {
  const header = indexHeader(path);
  if (header === undefined || logBytes(path) > 0) return false;
  const words = new Uint32Array(header.buffer.slice(header.byteOffset, header.byteOffset + 136));
  return (words[4] ?? 0) > (words[24] ?? 0) && indexHeader(path)?.equals(header) === true;
}

/** The length of the write-ahead log; 0 where there is none, as after the last process has closed the store. */
const logBytes = (path: string): number =>
  statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

/** Undefined where there is none, or none yet. */
function indexHeader(path: string): Buffer | undefined {
  try {
    const header = readFileSync(`${path}-shm`).subarray(0, 136);
    return header.length === 136 ? header : undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** A start that the disk lets down; undefined for other errors. */
export function diskTrouble(path: string, error: unknown): DomainError | undefined {
  if (!(error instanceof Sqlite.SqliteError)) return undefined;
  if (error.code === "SQLITE_FULL") {
    return failedPrecondition(
      "STORE_DISK_FULL",
      `no space is left on the disk of ${path}: make room, then start again`,
      { cause: error },
    );
  }
  if (!error.code.startsWith("SQLITE_IOERR")) return undefined;
  return failedPrecondition(
    "STORE_DISK_FAILED",
    `the disk fails while the store ${path} is opened (${error.code}): the log of the system says more`,
    { cause: error },
  );
}
