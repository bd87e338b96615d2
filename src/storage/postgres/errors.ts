import pg from "pg";
import { DomainError, failedPrecondition } from "../../errors.ts";
import {
  storeBusy,
  storeClosed,
  storeDamaged,
  storeNewer,
  storeOutcomeUnknown,
  storeUnavailable,
} from "../refusals.ts";
import { unstorableText } from "../texts.ts";

const again = { retryAfterSeconds: 1 };

/** The store cannot be asked now. The private cause keeps what the server or the socket said. */
export const cannotBeReached = (cause: unknown) =>
  storeUnavailable("the store cannot be reached now: nothing was changed, try again", {
    ...again,
    cause,
  });

export const isBusy = (cause?: unknown) =>
  storeBusy("the store is busy: nothing was changed, try again", { ...again, cause });

export const outcomeUnknown = (cause: unknown) =>
  storeOutcomeUnknown(
    "the store went away while it was writing: the change was made whole or not at all, look before you try again",
    cause,
  );

/** What the server itself said; undefined for an error of the connection. */
export const serverError = (error: unknown): pg.DatabaseError | undefined =>
  error instanceof pg.DatabaseError ? error : undefined;

/** The server refused and goes on: whatever the statement was, it did nothing. Anything else leaves it open. */
export const isDefinite = (error: unknown): boolean => serverError(error)?.severity === "ERROR";

/** Deadlock, or a serialization that failed: the same statement may succeed at once. */
export const isRetryable = (error: unknown): boolean =>
  ["40001", "40P01"].includes(serverError(error)?.code ?? "");

// What pg-pool says to one who has waited too long for a connection.
const poolExhausted = "timeout exceeded when trying to connect";
// What it says once the store is closed.
const poolEnded = "Cannot use a pool after calling end on the pool";
// lock_not_available, query_canceled (by the statement's time limit), too_many_connections
const busyCodes = ["55P03", "57014", "53300"];
// data_corrupted, index_corrupted
const damagedCodes = ["XX001", "XX002"];
// A replica of an older build meets what a newer one has changed: undefined_column, undefined_table.
const newerCodes = ["42703", "42P01"];
// Text that no database can hold as text: NUL, and halves of a surrogate pair.
const unstorableCodes = ["22021", "22P05"];

/** What a caller may hear of an error of the database: neither host, nor user, nor statement. */
export function storeError(cause: unknown): unknown {
  if (cause instanceof DomainError) return cause;
  const said = serverError(cause);
  if (said === undefined) {
    if (cause instanceof Error && cause.message === poolExhausted) return isBusy(cause);
    if (cause instanceof Error && cause.message === poolEnded) return storeClosed();
    return isConnectionError(cause) ? cannotBeReached(cause) : cause;
  }
  const code = said.code ?? "";
  if (busyCodes.includes(code)) return isBusy(cause);
  if (unstorableCodes.includes(code)) return unstorableText(cause);
  if (damagedCodes.includes(code)) {
    return storeDamaged("unavailable", "what was asked for is damaged in the store", { cause });
  }
  if (newerCodes.includes(code)) {
    return storeNewer(
      "unavailable",
      "the store has been changed by a newer build: this replica must be replaced",
      { ...again, cause },
    );
  }
  // 08 connection, 25006 read only, 28 authorization, 53 resources (disk, memory), 57 operator, 58 system
  if (/^(08|28|53|57|58|3D|XX)|^25006$/.test(code)) return cannotBeReached(cause);
  return cause;
}

/** Errors of sockets and of the client's own time limits carry no code of the server. */
const isConnectionError = (error: unknown): boolean =>
  error instanceof Error &&
  ("syscall" in error ||
    /^E[A-Z]+$/.test(String("code" in error ? error.code : "")) ||
    /terminated|timeout|not queryable|closed|ended|SSL|password|SASL/i.test(error.message));

// What the one who runs the service can do about it.
const explained: Record<string, string> = {
  "3D000": "there is no database of this name: make it with createdb, or name another one",
  "28000": "the server does not admit the user, or not from here",
  "28P01": "the user or the password is wrong",
  "42501": "the user may not connect to the database: GRANT CONNECT ON DATABASE",
  "53300": "the server has no connection left",
  "57P03": "the server is starting or stopping",
  ECONNREFUSED: "nothing listens there: check that the server runs, and host and port",
  ECONNRESET:
    "the server cut the connection: check that it is PostgreSQL, and whether it wants TLS",
  ENOTFOUND: "nobody knows this host",
  EAI_AGAIN: "the name of the host cannot be looked up now",
  EHOSTUNREACH: "no way leads to the host",
  ENETUNREACH: "no way leads to the host",
  ETIMEDOUT: "the host does not answer",
  ENOENT: "there is no such socket: check that the server runs",
};

/** A start that is refused. `code` is what the machine or the server calls the trouble; it names nobody. */
export function unreachable(error: unknown) {
  const code =
    serverError(error)?.code ?? (error instanceof Error && "code" in error ? error.code : "");
  const shown = typeof code === "string" && code !== "" ? ` (${code})` : "";
  const why =
    explained[String(code)] ??
    "check that the server runs, and that host, port, name, user and password are right";
  return failedPrecondition(
    "STORE_UNREACHABLE",
    `the database of IDSVC_DATABASE_URL does not let us in${shown}: ${why}`,
    { cause: error },
  );
}
