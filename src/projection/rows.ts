import type { Awaitable } from "../awaitable.ts";
import type { Database } from "../storage/database.ts";
import { and, asc, type Column, desc, eq, inArray, type SQL, sql } from "../storage/drizzle.ts";
import { cachedRead } from "../storage/read-cache.ts";
import { select, selectionOf, wholeRow } from "../storage/selection.ts";
import type { Row, Table } from "../storage/table.ts";

/** What columns of a table are to equal: values, one of a list of values, or columns of what a query stands in. */
export type Equal<T extends Table> = {
  [K in keyof Row<T>]?: Row<T>[K] | readonly Row<T>[K][] | Column | SQL;
};

/** A column of a table by its name. @throws Error where there is none */
export function columnIn(db: Database, table: Table, name: string): Column {
  const column = (db.table(table) as unknown as Record<string, Column>)[name];
  if (column === undefined) throw new Error(`${table.name} has no column ${name}`);
  return column;
}

function meets(db: Database, column: Column, value: unknown): SQL {
  if (!Array.isArray(value)) return eq(column, value);
  const isText = (one: unknown): one is string => typeof one === "string";
  return value.length > 0 && value.every(isText)
    ? db.isAmong(column, value)
    : isOneOf(column, value);
}

export const isOneOf = (column: Column, values: readonly (string | bigint)[]): SQL =>
  // An empty list keeps nothing; drizzle's inArray refuses one.
  values.length === 0 ? sql`1 = 0` : inArray(column, [...values]);

/** Keeps the rows whose columns equal `where`. */
export const equals = <T extends Table>(db: Database, table: T, where: Equal<T>): SQL | undefined =>
  and(...Object.entries(where).map(([name, value]) => meets(db, columnIn(db, table, name), value)));

type Name<T extends Table> = keyof Row<T> & string;

/** Columns to sort by, the first before the others; descending with `-` before the name. None: no order. */
export type Order<T extends Table> = readonly (Name<T> | `-${Name<T>}`)[];

const sorted = <T extends Table>(db: Database, table: T, order: Order<T>): SQL[] =>
  order.map((name) =>
    name.startsWith("-")
      ? desc(columnIn(db, table, name.slice(1)))
      : asc(columnIn(db, table, name)),
  );

/** The rows whose columns equal `where`. */
export async function rowsWhere<T extends Table>(
  db: Database,
  table: T,
  where: Equal<T>,
  order: Order<T> = [],
): Promise<Row<T>[]> {
  const whole = wholeRow(db.table(table));
  const rows = { where: equals(db, table, where), orderBy: sorted(db, table, order) };
  return db.read.rows(select(whole.columns, { from: db.table(table), ...rows }), whole);
}

/** A row whose columns equal `where`; undefined where there is none. */
export const rowWhere = async <T extends Table>(
  db: Database,
  table: T,
  where: Equal<T>,
): Promise<Row<T> | undefined> => (await rowsWhere(db, table, where))[0];

/** Some columns of the rows whose columns equal `where`. */
export async function columnsWhere<T extends Table, K extends Name<T>>(
  db: Database,
  table: T,
  columns: readonly K[],
  where: Equal<T>,
  order: Order<T> = [],
): Promise<Pick<Row<T>, K>[]> {
  const chosen = columns.map((name) => [name, columnIn(db, table, name)] as const);
  const selection = selectionOf<Pick<Row<T>, K>>(Object.fromEntries(chosen) as Record<K, Column>);
  const rows = { where: equals(db, table, where), orderBy: sorted(db, table, order) };
  const query = select(selection.columns, { from: db.table(table), ...rows });
  return db.read.rows(query, selection);
}

/** Keeps what a row stands beside whose columns equal `where`, and that meets the condition. */
export const hasRow = <T extends Table>(
  db: Database,
  table: T,
  where: Equal<T>,
  condition?: SQL,
): SQL => {
  const ofTable = { from: db.table(table), where: and(equals(db, table, where), condition) };
  return sql`exists (${select(sql`1`, ofTable)})`;
};

/** Reads the rows of an instance by what one of their columns holds, as `cachedRead` does. */
export const cachedRows = <T extends Table>(
  db: Database,
  table: T,
  column: keyof Row<T> & string,
): ((instanceId: string, value: string) => Awaitable<readonly Row<T>[]>) =>
  cachedRead(db, [table], (instanceId, value) =>
    rowsWhere(db, table, { instanceId, [column]: value }),
  );
