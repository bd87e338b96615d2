import type { Database } from "../../storage/database.ts";
import { and, asc, type Column, eq, type SQL, sql } from "../../storage/drizzle.ts";
import type { Row, Table } from "../../storage/table.ts";

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
  // The columns of a neutral table, by name: the shape is that of the table's own definition.
  const columns = db.table(table) as unknown as Record<string, Column>;
  const column = (name: string): Column => {
    const found = columns[name];
    if (found === undefined) throw new Error(`table ${table.name} has no column ${name}`);
    return found;
  };
  const inOrder = ["instanceId", ...Object.keys(where), ...by];
  const isRead = [table.key, ...table.indexes.map(({ columns: of }) => of)].some((of) =>
    inOrder.every((name, at) => of[at] === name),
  );
  if (!isRead) throw new Error(`no index of ${table.name} begins with ${inOrder.join(", ")}`);
  const names = sql.join(
    by.map((name) => sql`${column(name)}`),
    sql`, `,
  );
  const matching = Object.entries(where).map(([name, value]) => eq(column(name), value));
  for (let last: Row<T> | undefined; ; ) {
    const from = last;
    const values = by.map((name) => sql`${sql.param(from?.[name], column(name))}`);
    const later: SQL | undefined = from && sql`(${names}) > (${sql.join(values, sql`, `)})`;
    const rows: Row<T>[] = await db.read
      .select()
      .from(db.table(table))
      .where(and(eq(column("instanceId"), instanceId), ...matching, later))
      .orderBy(...by.map((name) => asc(column(name))))
      .limit(rowsAPage);
    if (rows.length > 0) yield rows;
    if (rows.length < rowsAPage) return;
    last = rows.at(-1);
  }
}
