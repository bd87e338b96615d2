import { createRequire } from "node:module";
import type * as Orm from "drizzle-orm";
import type * as PgCore from "drizzle-orm/pg-core";
import type * as SqliteCore from "drizzle-orm/sqlite-core";

export type { Column, SQL, SQLChunk } from "drizzle-orm";
export type { AnyPgTable, PgColumn } from "drizzle-orm/pg-core";

/**
 * drizzle, loaded the quick way: this is the only file that may load it.
 *
 * Node parses the 137 KB export map of drizzle's package.json anew for every one of its ES modules, which costs half a
 * second and 300 MiB; for its CommonJS modules, which are the same code, it does so once.
 */
export const loadDrizzle: NodeJS.Require = createRequire(import.meta.url);

const orm: typeof Orm = loadDrizzle("drizzle-orm");

export const {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  getTableName,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  not,
  or,
  QueryPromise,
  sql,
} = orm;
/** The kinds of parts that a query is made of; `isSQLWrapper` tells expressions and queries from values. */
export const queryParts: Pick<
  typeof Orm,
  "Column" | "isSQLWrapper" | "Name" | "Param" | "SQL" | "StringChunk" | "Table"
> = orm;

let loadedPg: typeof PgCore | undefined;
let loadedSqlite: typeof SqliteCore | undefined;
/** What belongs to one dialect: a process has one of them, and to load the other is a hundredth of a start. */
export const pgCore = (): typeof PgCore => (loadedPg ??= loadDrizzle("drizzle-orm/pg-core"));
export const sqliteCore = (): typeof SqliteCore =>
  (loadedSqlite ??= loadDrizzle("drizzle-orm/sqlite-core"));

/** Whether a part of a query is a column, and no other expression. */
export const isColumn = (part: unknown): part is Orm.Column => orm.is(part, orm.Column);

/** A parameter of a prepared statement, by its name. */
export const parameter: typeof sql.placeholder = sql.placeholder; // drizzle's word for it

/** Whether values of a column are stored as they are given, so that `mapToDriverValue` need not be asked. */
export const isStoredAsGiven = ({ mapToDriverValue }: Pick<Orm.Column, "mapToDriverValue">) =>
  mapToDriverValue === orm.Column.prototype.mapToDriverValue;

/** How many parameters a condition sends to the database; those of queries of drizzle's builder inside it are not counted. */
export function parametersOf(condition: unknown): number {
  if (Array.isArray(condition)) {
    return condition.reduce((sum: number, part) => sum + parametersOf(part), 0);
  }
  if (condition instanceof orm.SQL) return parametersOf(condition.queryChunks);
  return condition instanceof orm.Param ? 1 : 0;
}
