import type { AnyPgTable, pgTable } from "drizzle-orm/pg-core";
import type { SQLiteColumnBuilderBase } from "drizzle-orm/sqlite-core";
import { pgCore, sqliteCore } from "./drizzle.ts";

/**
 * Neutral tables: one definition, one row type, a drizzle table for each dialect.
 *
 * The types of PostgreSQL are the canonical ones; the SQLite table is cast to them once, here, so that a query
 * written against a neutral table runs on both.
 */

function postgresBuilders() {
  const { boolean, customType, integer, text: plainText } = pgCore();
  return {
    text: plainText,
    int: integer,
    bool: boolean,
    int64: customType<{ data: bigint; driverData: string | bigint }>({
      dataType: () => "bigint",
      fromDriver: (value) => BigInt(value),
    }),
    instant: customType<{ data: Date; driverData: string | number }>({
      dataType: () => "bigint",
      toDriver: (value) => value.getTime(),
      fromDriver: (value) => new Date(Number(value)),
    }),
    // The driver has read the JSON already. drizzle's own type reads texts among it once more: "1e5" would become a number.
    json: customType<{ data: unknown }>({
      dataType: () => "jsonb",
      toDriver: (value) => JSON.stringify(value),
    }),
    bytes: customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" }),
  };
}
let loadedPostgres: ReturnType<typeof postgresBuilders> | undefined;
const postgresColumn = () => (loadedPostgres ??= postgresBuilders());

function sqliteBuilders() {
  const { customType, integer, text: plainText } = sqliteCore();
  return {
    text: (name: string) => plainText(name),
    int: (name: string) => integer(name),
    int64: customType<{ data: bigint; driverData: number | bigint }>({
      dataType: () => "integer",
      fromDriver: (value) => BigInt(value),
    }),
    bool: (name: string) => integer(name, { mode: "boolean" }),
    json: (name: string) => plainText(name, { mode: "json" }),
    instant: customType<{ data: Date; driverData: number }>({
      dataType: () => "integer",
      toDriver: (value) => value.getTime(),
      fromDriver: (value) => new Date(Number(value)),
    }),
    bytes: customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "blob" }),
  };
}
let loadedSqlite: ReturnType<typeof sqliteBuilders> | undefined;
const sqliteColumn = () => (loadedSqlite ??= sqliteBuilders());

export type ColumnKind = keyof ReturnType<typeof sqliteBuilders>;

type Definition<B> = { kind: ColumnKind; nullable: boolean; build: (name: string) => B };

const column = <B>(kind: ColumnKind, nullable: boolean, build: (name: string) => B) => ({
  kind,
  nullable,
  build,
});

/** Short or long text, compared byte by byte. */
export const text = () => column("text", false, (name) => postgresColumn().text(name).notNull());
export const optionalText = () => column("text", true, (name) => postgresColumn().text(name));
export const int = () => column("int", false, (name) => postgresColumn().int(name).notNull());
/** A 64-bit integer, `bigint` in code. */
export const int64 = () => column("int64", false, (name) => postgresColumn().int64(name).notNull());
export const bool = () => column("bool", false, (name) => postgresColumn().bool(name).notNull());
export const json = <T>() =>
  column("json", false, (name) => postgresColumn().json(name).$type<T>().notNull());
export const optionalJson = <T>() =>
  column("json", true, (name) => postgresColumn().json(name).$type<T>());
/** A point in time, stored as milliseconds since the epoch. */
export const instant = () =>
  column("instant", false, (name) => postgresColumn().instant(name).notNull());
export const optionalInstant = () =>
  column("instant", true, (name) => postgresColumn().instant(name));
export const bytes = () => column("bytes", false, (name) => postgresColumn().bytes(name).notNull());
export const optionalBytes = () => column("bytes", true, (name) => postgresColumn().bytes(name));

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
    const builder = sqliteColumn()[kind](columnName(key));
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
      return (postgres ??= pgCore().pgTable(name, built(toPostgres) as Built<C>) as PgTable<C>);
    },
    get sqlite() {
      return (sqlite ??= sqliteCore().sqliteTable(name, built(toSqlite)) as unknown as PgTable<C>);
    },
  };
}

/** A table of whatever columns. */
export type AnyTable = Table;
