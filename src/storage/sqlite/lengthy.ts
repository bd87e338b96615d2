import { availableParallelism } from "node:os";
import { extname } from "node:path";
import type * as Proxy from "drizzle-orm/sqlite-proxy";
import { internal, unavailable } from "../../errors.ts";
import { createThreadPool } from "../../threads/pool.ts";
import type { Reader, Snapshots } from "../database.ts";
import { loadDrizzle, type SQL, sqliteCore } from "../drizzle.ts";
import { queryWriter } from "../query-writer.ts";
import type { Selection } from "../selection.ts";
import { storeClosed } from "../refusals.ts";
import { received, type SentError } from "./errors.ts";

/** A query as it is sent to a thread. */
export type ThreadQuery = { sql: string; params: readonly unknown[] };
/** The rows of all queries of a message, each as a list of its columns; or why there are none. */
export type QueryResponse = { rows: unknown[][][] } | { error: SentError };

type LengthyReads = AsyncDisposable & {
  /** @param source whose reads they are: sources take turns */
  of(source: string): Snapshots;
  /** How many snapshots wait for a thread. */
  waiting(): number;
};

const { drizzle }: typeof Proxy = loadDrizzle("drizzle-orm/sqlite-proxy");
const script = new URL(`./reader-thread${extname(import.meta.url)}`, import.meta.url);

// One core stays with the event loop. What looks at a million rows takes a second or two; SQLite's work is not broken off.
const threads = Math.min(4, Math.max(1, availableParallelism() - 1));
const mostWaiting = 32 * threads;
const retryAfterSeconds = 2;

/** A query that is built: what is sent of it, and its rows as the caller gets them. */
type Prepared = { getQuery(): ThreadQuery; mapResult(rows: unknown[][]): unknown };

function reader(): Reader {
  const write = queryWriter(new (sqliteCore().SQLiteAsyncDialect)());
  const built = drizzle(() =>
    Promise.reject(new Error("the queries of a snapshot are sent together")),
  );
  const rows = <R>(query: SQL, { rowOf }: Pick<Selection<R>, "rowOf">) => {
    const prepared: Prepared = {
      getQuery: () => write(query),
      mapResult: (found) => found.map(rowOf),
    };
    return { prepare: () => prepared };
  };
  // As in readerOf: row types are those of PostgreSQL.
  return Object.assign(built, { rows }) as unknown as Reader;
}

/**
 * Reads by threads with connections of their own, so that whatever takes long holds up nobody else. Each sees what was
 * committed before it began.
 *
 * @param explain maps an error of the engine to what the caller gets
 */
export function readInThreads(path: string, explain: (error: unknown) => unknown): LengthyReads {
  let isClosed = false;
  const pool = createThreadPool<readonly ThreadQuery[], QueryResponse>({
    script,
    threads,
    mostWaiting,
    workerData: { path },
    refusals: {
      busy: () =>
        unavailable("SEARCHES_BUSY", "too many searches are under way: try again", {
          retryAfterSeconds,
        }),
      failed: (cause) =>
        isClosed
          ? storeClosed()
          : internal("SEARCH_FAILED", "a thread that reads ended", { cause }),
    },
  });

  const read = reader();

  return {
    of: (source) => ({
      async snapshot(build) {
        const queries = build(read) as unknown as readonly { prepare(): Prepared }[];
        const prepared = queries.map((query) => query.prepare());
        const sent = prepared.map((query) => query.getQuery());
        const response = await pool.run(
          sent.map(({ sql, params }) => ({ sql, params })),
          source,
        );
        if ("error" in response) throw explain(received(response.error));
        return prepared.map((query, at) => query.mapResult(response.rows[at] ?? [])) as never;
      },
    }),
    waiting: pool.waiting,
    [Symbol.asyncDispose]() {
      isClosed = true;
      return pool[Symbol.asyncDispose]();
    },
  };
}
