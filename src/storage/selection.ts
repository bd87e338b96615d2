import type { AnyPgTable } from "drizzle-orm/pg-core";
import {
  type Column,
  getTableColumns,
  getTableName,
  isColumn,
  type SQL,
  type SQLChunk,
  sql,
} from "./drizzle.ts";

/** What a query that is written as text gives of each row. */
export type Selection<R> = {
  columns: SQL;
  /** The row of these values, which are in the order of the columns. */
  rowOf(values: readonly unknown[]): R;
};

/** Where rows are looked for, which of them count, and in which order. */
export type Rows = {
  from: AnyPgTable | SQL;
  where?: SQL | undefined;
  orderBy?: readonly SQL[];
  limit?: number;
  offset?: number;
};

/** The text of a query, and its parameters. Drizzle's builder takes ten times as long where a row has many columns (decision 0399). */
export function select(columns: SQL, { from, where, orderBy = [], limit, offset }: Rows): SQL {
  return sql.join([
    sql`select ${columns} from ${from}`,
    where && sql` where ${where}`,
    orderBy.length === 0 ? undefined : sql` order by ${listOf(orderBy)}`,
    limit === undefined ? undefined : sql` limit ${limit}`,
    offset === undefined ? undefined : sql` offset ${offset}`,
  ]);
}

/** Parts of a query, with commas between them. */
export const listOf = (parts: readonly SQLChunk[]): SQL => sql.join([...parts], sql.raw(", "));

type Field = { name: string; from: Pick<Column, "mapFromDriverValue"> | undefined };

/** Columns and expressions by the names that they have in a row; the value of an expression is the database's own. */
export function selectionOf<R extends object>(
  fields: {
    readonly [K in keyof R]: Column | SQL;
  },
): Selection<R> {
  const chosen = Object.entries<Column | SQL>(fields);
  return {
    columns: listOf(chosen.map(([, field]) => field)),
    rowOf: reading(
      chosen.map(([name, field]) => ({ name, from: isColumn(field) ? field : undefined })),
    ),
  };
}

const whole = new WeakMap<AnyPgTable, Selection<never>>();

/** All columns of a table. */
export function wholeRow<T extends AnyPgTable>(t: T): Selection<T["$inferSelect"]> {
  const existing = whole.get(t);
  if (existing !== undefined) return existing;
  const fields = Object.entries<Column>(getTableColumns(t));
  const names = fields.map(([, { name }]) => `"${getTableName(t)}"."${name}"`);
  const selection: Selection<never> = {
    columns: sql.raw(names.join(", ")),
    rowOf: reading(fields.map(([name, from]) => ({ name, from }))),
  };
  whole.set(t, selection);
  return selection;
}

function reading(fields: readonly Field[]): (values: readonly unknown[]) => never {
  return (values) => {
    const row: Record<string, unknown> = {};
    fields.forEach(({ name, from }, at) => {
      const value = values[at];
      row[name] = value === null || from === undefined ? value : from.mapFromDriverValue(value);
    });
    // The names and types are those of the fields.
    return row as never;
  };
}
