import type Sqlite from "better-sqlite3";
import type * as Driver from "drizzle-orm/better-sqlite3";
import type { Reader, Snapshots } from "../database.ts";
import { loadDrizzle, type SQL, sqliteCore } from "../drizzle.ts";
import { queryWriter } from "../query-writer.ts";
import type { Selection } from "../selection.ts";
import { TextQuery } from "../text-query.ts";
import { explaining, rememberStatements } from "./statements.ts";

const { drizzle }: typeof Driver = loadDrizzle("drizzle-orm/better-sqlite3");

/** A query that is built, or one of drizzle's that is prepared and has its values. */
type Query = { all(): unknown } | { sync(): unknown };

/** drizzle over a connection, which answers at once. @param explain maps an error of the engine to what the caller gets */
export function readerOf(
  connection: Sqlite.Database,
  explain: (error: unknown) => unknown,
): Reader {
  const prepare = rememberStatements(connection, explain);
  const write = queryWriter(new (sqliteCore().SQLiteSyncDialect)());
  // drizzle asks its client for nothing but statements.
  const reader = drizzle({ prepare } as unknown as Sqlite.Database);
  const rows = <R>(query: SQL, { rowOf }: Pick<Selection<R>, "rowOf">) => {
    const written = write(query);
    return new TextQuery(written, () => {
      const found = prepare(written.sql)
        .raw()
        .all(...written.params);
      return (found as unknown[][]).map(rowOf);
    });
  };
  // The one cast of dialects for queries: row types are those of PostgreSQL (table.ts).
  return Object.assign(reader, { rows }) as unknown as Reader;
}

/** Snapshots that this thread reads, each at once. */
export function snapshotsHere(
  connection: Sqlite.Database,
  reader: Reader,
  explain: (error: unknown) => unknown,
): Snapshots {
  const begin = explaining(connection.prepare("BEGIN"), explain);
  // Nothing was written in it.
  const end = connection.prepare("END");
  return {
    async snapshot(build) {
      const queries = build(reader) as unknown as readonly Query[];
      begin.run();
      try {
        return queries.map((query) => ("sync" in query ? query.sync() : query.all())) as never;
      } finally {
        // An error of the disk may have ended it.
        if (connection.inTransaction) end.run();
      }
    },
  };
}
