import type { Database } from "../storage/database.ts";
import { columnIn, equals } from "./rows.ts";
import { and, asc, type Column, type SQL, sql } from "../storage/drizzle.ts";
import type { Row, Table } from "../storage/table.ts";

// So many users take a fifth of what a turn of the event loop may take.
const usualRows = 200;

/**
 * All rows of a table in an instance that match, in the order of some columns, which together name a row; a page in
 * memory at a time. What is written meanwhile may or may not be among them.
 *
 * @throws Error where no index reads the rows in that order, so that each page would read all of them
 */
export async function* pagesOf<T extends Table>(
  db: Database,
  table: T,
  by: readonly (keyof Row<T> & string)[],
  instanceId: string,
  where: Partial<Row<T>>,
  rowsAPage = usualRows,
): AsyncGenerator<Row<T>[]> {
  const column = (name: string): Column => columnIn(db, table, name);
  const inOrder = ["instanceId", ...Object.keys(where), ...by];
  const isRead = [table.key, ...table.indexes.map(({ columns: of }) => of)].some((of) =>
    inOrder.every((name, at) => of[at] === name),
  );
  if (!isRead) throw new Error(`no index of ${table.name} begins with ${inOrder.join(", ")}`);
  const names = sql.join(
    by.map((name) => sql`${column(name)}`),
    sql`, `,
  );
  for (let last: Row<T> | undefined; ; ) {
    const from = last;
    const values = by.map((name) => sql`${sql.param(from?.[name], column(name))}`);
    const later: SQL | undefined = from && sql`(${names}) > (${sql.join(values, sql`, `)})`;
    const rows: Row<T>[] = await db.read
      .select()
      .from(db.table(table))
      .where(and(equals(db, table, { instanceId, ...where }), later))
      .orderBy(...by.map((name) => asc(column(name))))
      .limit(rowsAPage);
    if (rows.length > 0) yield rows;
    if (rows.length < rowsAPage) return;
    last = rows.at(-1);
  }
}
