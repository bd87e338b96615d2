import Sqlite from "better-sqlite3";

const hasCode = (error: unknown, code: RegExp): boolean =>
  error instanceof Sqlite.SqliteError && code.test(error.code);

/**
 * Another connection has the lock. SQLite returns SQLITE_PROTOCOL where a transaction could not begin for about ten seconds, because
 * another connection was updating or recovering the index of the write-ahead log.
 *
 * Source: sqlite.org/rescode.html#protocol
 */
export const isBusy = (error: unknown): boolean => hasCode(error, /^SQLITE_(BUSY|PROTOCOL)/);

/** The flush of a commit failed. */
export const isUnflushed = (error: unknown): boolean => hasCode(error, /^SQLITE_IOERR_FSYNC$/);

/** The disk takes nothing, or gives nothing. */
export const isDisk = (error: unknown): boolean => hasCode(error, /FULL|IOERR|READONLY|CANTOPEN/);

export const isOtherFile = (error: unknown): boolean => hasCode(error, /^SQLITE_NOTADB$/);

export const isDamage = (error: unknown): boolean =>
  isOtherFile(error) || hasCode(error, /^SQLITE_CORRUPT/);

/** An error that can be sent to another thread. */
export type SentError = { message: string; code?: string };

export const toSend = (error: unknown): SentError =>
  error instanceof Sqlite.SqliteError
    ? { message: error.message, code: error.code }
    : { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };

export const received = ({ message, code }: SentError): Error =>
  code === undefined ? new Error(message) : new Sqlite.SqliteError(message, code);
