import { availableParallelism } from "node:os";
import { extname } from "node:path";
import type * as Proxy from "drizzle-orm/sqlite-proxy";
import { internal, unavailable } from "../../errors.ts";
import { createThreadPool } from "../../threads/pool.ts";
import type { Reader, Snapshots } from "../database.ts";
import { loadDrizzle } from "../drizzle.ts";
import { storeClosed } from "../refusals.ts";
import { received, type SentError } from "./errors.ts";

/** A query, as a thread is asked it. */
export type Asked = { sql: string; params: readonly unknown[] };
/** The rows of all queries of a message, each as a list of its columns. */
export type Told = { rows: unknown[][][] } | { error: SentError };

type LengthyReads = AsyncDisposable & {
  /** @param source whose reads they are: sources take turns */
  of(source: string): Snapshots;
  waiting(): number;
};

const { drizzle }: typeof Proxy = loadDrizzle("drizzle-orm/sqlite-proxy");
const script = new URL(`./reader-thread${extname(import.meta.url)}`, import.meta.url);

// One core stays with the event loop. What looks at a million rows takes a second or two; SQLite's work is not broken off.
const threads = Math.min(4, Math.max(1, availableParallelism() - 1));
const mostWaiting = 32 * threads;
const retryAfterSeconds = 2;

const alone = () => Promise.reject(new Error("queries of a snapshot are asked together"));

/**
 * Reads by threads with connections of their own, so that whatever takes long holds up nobody else. Each sees what was
 * committed before it was asked.
 *
 * @param explain what a caller is told of an error of the engine
 */
export function readInThreads(path: string, explain: (error: unknown) => unknown): LengthyReads {
  let isClosed = false;
  const pool = createThreadPool<readonly Asked[], Told>({
    ...{ script, threads, mostWaiting, workerData: { path } },
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

  async function ask(queries: readonly Asked[], source: string): Promise<{ rows: unknown[][] }[]> {
    const told = await pool.run(
      queries.map(({ sql, params }) => ({ sql, params })),
      source,
    );
    if ("error" in told) throw explain(received(told.error));
    return told.rows.map((rows) => ({ rows }));
  }

  return {
    of(source) {
      const reader = drizzle(alone, (queries) => ask(queries, source));
      // As in openSqlite: row types are those of PostgreSQL. A batch takes the queries that were built.
      const read = reader as unknown as Reader;
      const batch: (queries: never) => Promise<unknown> = (queries) => reader.batch(queries);
      return { snapshot: (build) => batch(build(read) as never) as Promise<never> };
    },
    waiting: pool.waiting,
    [Symbol.asyncDispose]() {
      isClosed = true;
      return pool[Symbol.asyncDispose]();
    },
  };
}
