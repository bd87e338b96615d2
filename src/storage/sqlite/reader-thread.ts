// A thread that reads: it answers each message, some queries that see one state of the store, with their rows.
import "../../hardened.js";
import { parentPort, workerData } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import type { ThreadAnswer } from "../../threads/pool.ts";
import { stepBackAsThread } from "../../threads/priority.ts";
import { toSend } from "./errors.ts";
import type { QueryResponse, ThreadQuery } from "./lengthy.ts";
import { rememberStatements } from "./statements.ts";

const port = parentPort;
const { path } = workerData as { path: string };
if (port === null) throw new Error("it runs as a thread");

stepBackAsThread();

let opened: ReturnType<typeof open> | undefined;

function open() {
  const connection = new Sqlite(path, { readonly: true, fileMustExist: true });
  // 16 MiB: the connection of the event loop, which has 64 (open.ts), answers most reads.
  connection.pragma("cache_size = -16384", { simple: true });
  connection.pragma("temp_store = MEMORY", { simple: true });
  return {
    connection,
    statement: rememberStatements(connection, (error) => error),
    begin: connection.prepare("BEGIN"),
    end: connection.prepare("END"),
  };
}

function rowsOf(queries: readonly ThreadQuery[]): QueryResponse {
  try {
    opened ??= open();
    const { connection, statement, begin, end } = opened;
    begin.run();
    try {
      return {
        rows: queries.map(
          ({ sql, params }) =>
            statement(sql)
              .raw()
              .all(...params) as unknown[][],
        ),
      };
    } finally {
      // An error of the disk may have ended it.
      if (connection.inTransaction) end.run();
    }
  } catch (error) {
    return { error: toSend(error) };
  }
}

port.on("message", (queries: readonly ThreadQuery[]) => {
  const answer: ThreadAnswer<QueryResponse> = { result: rowsOf(queries) };
  port.postMessage(answer);
});
