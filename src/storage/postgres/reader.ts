import { randomUUID } from "node:crypto";
import type * as Driver from "drizzle-orm/node-postgres";
import type { PgPreparedQuery, PreparedQueryConfig } from "drizzle-orm/pg-core";
import type pg from "pg";
import type { Reader } from "../database.ts";
import { queryWriter } from "../query-writer.ts";
import type { Selection } from "../selection.ts";
import { loadDrizzle, pgCore, type SQL } from "../drizzle.ts";
import { TextQuery } from "../text-query.ts";
import { isRetryable, storeError } from "./errors.ts";
import type { Overtaken } from "./overtaken.ts";

const { NodePgSession }: typeof Driver = loadDrizzle("drizzle-orm/node-postgres");
const { PgDatabase, PgDialect } = pgCore();
const dialect = new PgDialect();
const write = queryWriter(dialect);
const tries = 3;

type Base = Driver.NodePgSession<Record<string, unknown>, Record<string, never>>;

/** Who says before a query whether it may be asked, and after one that failed what the caller hears. */
type Judge = Pick<Overtaken, "requireCurrent" | "explain">;

const nobody: Judge = {
  requireCurrent: () => {},
  explain: async (error) => storeError(error),
};

class Session extends NodePgSession<Record<string, unknown>, Record<string, never>> {
  judge = nobody;
  override prepareQuery<T extends PreparedQueryConfig = PreparedQueryConfig>(
    ...given: Parameters<Base["prepareQuery"]>
  ): PgPreparedQuery<T> {
    const prepared = super.prepareQuery<T>(...given);
    const execute = prepared.execute.bind(prepared);
    const { judge } = this;
    prepared.execute = (values) => judged(judge, () => execute(values));
    return prepared;
  }
}

async function judged<R>(judge: Judge, execute: () => Promise<R>): Promise<R> {
  judge.requireCurrent();
  try {
    return await execute();
  } catch (error) {
    throw await judge.explain(causeOf(error));
  }
}

// PostgreSQL takes no NUL in a text, not even to look for it. No stored text has one, so any text that is nowhere else
// stands for it: looking finds nothing, as on SQLite.
const nowhere = `\uFFFF${randomUUID()}\uFFFF`;
function sendable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sendable);
  return typeof value === "string" && value.includes("\0")
    ? value.replaceAll("\0", nowhere)
    : value;
}

/** drizzle over a pool or one connection; what fails is told in the words of the store. */
export function createReader(client: pg.Pool | pg.ClientBase, judge = nobody): Reader {
  const asking = {
    query: <R extends pg.QueryResultRow>(config: pg.QueryConfig, values: unknown[]) =>
      client.query<R>(config, values.map(sendable)),
  };
  // A session asks its client for nothing else.
  const session = new Session(asking as unknown as Driver.NodePgClient, dialect, undefined);
  session.judge = judge;
  const reader = new PgDatabase<Driver.NodePgQueryResultHKT>(dialect, session, undefined);
  return Object.assign(reader, {
    rows<R>(query: SQL, { rowOf }: Pick<Selection<R>, "rowOf">) {
      const written = write(query);
      const config = { text: written.sql, rowMode: "array" } as pg.QueryConfig;
      const find = async () =>
        (await asking.query<unknown[]>(config, written.params)).rows.map(rowOf);
      return new TextQuery(written, () => judged(judge, find));
    },
  });
}

type Queries = readonly PromiseLike<unknown>[];

/**
 * Runs queries that see one state of the store: one read-only transaction, sent in one piece. A reader that meets a
 * rebuilt table being put in place may lose a deadlock; then it reads again.
 */
export async function readSnapshot(
  pool: pg.Pool,
  build: (read: Reader) => Queries,
  judge: Judge,
): Promise<unknown[]> {
  judge.requireCurrent();
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(pool, build);
    } catch (error) {
      if (!isRetryable(error) || attempt === tries) throw await judge.explain(error);
    }
  }
}

async function readOnce(pool: pg.Pool, build: (read: Reader) => Queries): Promise<unknown[]> {
  const client = await pool.connect();
  const begun = client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  // NOTE: drizzle sends a query when it is first waited for, which must be before the end of the transaction is sent.
  const answers = build(createReader(client)).map((query) => query.then((rows) => rows));
  const results = [begun, ...answers, client.query("COMMIT")];
  const outcomes = await Promise.allSettled(results);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  client.release(failed !== undefined);
  if (failed !== undefined) throw failed.reason;
  return outcomes
    .slice(1, -1)
    .map((outcome) => (outcome.status === "fulfilled" ? outcome.value : undefined));
}

/** What drizzle wraps together with the statement and its parameters, which are nobody's to read. */
const causeOf = (error: unknown): unknown =>
  error instanceof Error && "query" in error && "params" in error ? error.cause : error;
