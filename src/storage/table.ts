import type { AnyPgTable } from "drizzle-orm/pg-core";
import type { SQLiteColumnBuilderBase } from "drizzle-orm/sqlite-core";
import { pgCore, sqliteCore } from "./drizzle.ts";

const {
  boolean: pgBoolean,
  customType: pgCustom,
  integer: pgInteger,
  pgTable,
  text: pgText,
} = pgCore;
const {
  customType: sqliteCustom,
  integer: sqliteInteger,
  sqliteTable,
  text: sqliteText,
} = sqliteCore;

/**
 * Neutral tables: one definition, one row type, a drizzle table for each dialect.
 *
 * The types of PostgreSQL are the canonical ones; the SQLite table is cast to them once, here, so that a query
 * written against a neutral table runs on both.
 */

const pgInt64 = pgCustom<{ data: bigint; driverData: string | bigint }>({
  dataType: () => "bigint",
  fromDriver: (value) => BigInt(value),
});
const pgInstant = pgCustom<{ data: Date; driverData: string | number }>({
  dataType: () => "bigint",
  toDriver: (value) => value.getTime(),
  fromDriver: (value) => new Date(Number(value)),
});
// The driver has read the JSON already. drizzle's own type reads texts among it once more: "1e5" would become a number.
const pgJsonb = pgCustom<{ data: unknown }>({
  dataType: () => "jsonb",
  toDriver: (value) => JSON.stringify(value),
});
const pgBytes = pgCustom<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

const sqliteInt64 = sqliteCustom<{ data: bigint; driverData: number | bigint }>({
  dataType: () => "integer",
  fromDriver: (value) => BigInt(value),
});
const sqliteInstant = sqliteCustom<{ data: Date; driverData: number }>({
  dataType: () => "integer",
  toDriver: (value) => value.getTime(),
  fromDriver: (value) => new Date(Number(value)),
});
const sqliteBytes = sqliteCustom<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "blob",
});

const sqliteBuilders = {
  text: (name: string) => sqliteText(name),
  int: (name: string) => sqliteInteger(name),
  int64: (name: string) => sqliteInt64(name),
  bool: (name: string) => sqliteInteger(name, { mode: "boolean" }),
  json: (name: string) => sqliteText(name, { mode: "json" }),
  instant: (name: string) => sqliteInstant(name),
  bytes: (name: string) => sqliteBytes(name),
};

export type ColumnKind = keyof typeof sqliteBuilders;

type Definition<B> = { kind: ColumnKind; nullable: boolean; build: (name: string) => B };

const column = <B>(kind: ColumnKind, nullable: boolean, build: (name: string) => B) => ({
  kind,
  nullable,
  build,
});

/** Short or long text, compared byte by byte. */
export const text = () => column("text", false, (name) => pgText(name).notNull());
export const optionalText = () => column("text", true, (name) => pgText(name));
export const int = () => column("int", false, (name) => pgInteger(name).notNull());
/** A 64-bit integer, `bigint` in code. */
export const int64 = () => column("int64", false, (name) => pgInt64(name).notNull());
export const bool = () => column("bool", false, (name) => pgBoolean(name).notNull());
export const json = <T>() => column("json", false, (name) => pgJsonb(name).$type<T>().notNull());
export const optionalJson = <T>() => column("json", true, (name) => pgJsonb(name).$type<T>());
/** A point in time, stored as milliseconds since the epoch. */
export const instant = () => column("instant", false, (name) => pgInstant(name).notNull());
export const optionalInstant = () => column("instant", true, (name) => pgInstant(name));
export const bytes = () => column("bytes", false, (name) => pgBytes(name).notNull());
export const optionalBytes = () => column("bytes", true, (name) => pgBytes(name));

// oxlint-disable-next-line no-explicit-any -- a column builder's own generics are drizzle's business.
export type AnyDefinition = Definition<any>;
type Columns = Record<string, AnyDefinition>;
type Built<C extends Columns> = { [K in keyof C]: ReturnType<C[K]["build"]> };
type PgTable<C extends Columns> = ReturnType<typeof pgTable<string, Built<C>>>;

type Index = { columns: string[]; unique: boolean };

export type TableOptions<C extends Columns> = {
  key: (keyof C & string)[];
  indexes?: { columns: (keyof C & string)[]; unique?: boolean }[];
  /** Counts rows by the value of this column, so that a total costs one read instead of a scan. */
  countedBy?: keyof C & string;
  /** Cached reads of one value of this column are not disturbed by changes of rows with another. */
  cachedBy?: keyof C & string;
};

export type Table<P extends AnyPgTable = AnyPgTable> = {
  name: string;
  columns: Record<string, { kind: ColumnKind; nullable: boolean }>;
  key: string[];
  indexes: Index[];
  countedBy: string | undefined;
  cachedBy: string | undefined;
  postgres: P;
  /** The SQLite twin, with the row type of `postgres`. */
  sqlite: P;
};

/** The row a read gives. */
export type Row<T extends Table> = T["postgres"]["$inferSelect"];

export const columnName = (key: string): string =>
  key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Declares a table for both dialects. Keys are camelCase here and snake_case in the database. */
export function table<C extends Columns>(
  name: string,
  columns: C,
  options: TableOptions<C>,
): Table<PgTable<C>> {
  const built = <B>(build: (key: string, definition: AnyDefinition) => B): Record<string, B> =>
    Object.fromEntries(
      Object.entries(columns).map(([key, definition]) => [key, build(key, definition)]),
    );
  const toPostgres = (key: string, { build }: AnyDefinition): unknown => build(columnName(key));
  const toSqlite = (key: string, { kind, nullable }: AnyDefinition): SQLiteColumnBuilderBase => {
    const builder = sqliteBuilders[kind](columnName(key));
    return nullable ? builder : builder.notNull();
  };
  let postgres: PgTable<C> | undefined;
  let sqlite: PgTable<C> | undefined;
  // The casts are the seam described at the top: equal columns, equal row types, other dialect. A process has one of them.
  return {
    name,
    columns,
    key: options.key,
    indexes: (options.indexes ?? []).map((index) => ({ unique: false, ...index })),
    countedBy: options.countedBy,
    cachedBy: options.cachedBy,
    get postgres() {
      return (postgres ??= pgTable(name, built(toPostgres) as Built<C>) as PgTable<C>);
    },
    get sqlite() {
      return (sqlite ??= sqliteTable(name, built(toSqlite)) as unknown as PgTable<C>);
    },
  };
}

/** A table of whatever columns. */
export type AnyTable = Table;
