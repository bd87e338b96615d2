import type { Awaitable } from "../awaitable.ts";
import type { Transaction } from "../eventstore/transaction.ts";
import type { Database } from "../storage/database.ts";
import { and, type Column, eq, parameter, sql, type SQL } from "../storage/drizzle.ts";
import { frozen } from "../eventstore/frozen.ts";
import { currentRead } from "../storage/read-cache.ts";
import type { Row, Table } from "../storage/table.ts";

/** The ids of rows whose columns equal `where`, up to `limit` of them. Another column than `id` may hold the id. */
export async function someIds<T extends Table>(
  db: Database,
  table: T,
  where: Partial<Row<T>>,
  limit: number,
  idColumn = "id",
): Promise<string[]> {
  return (await idsWhere(db, table, where, idColumn).limit(limit)).map(({ id }) => id);
}

/** How many objects there are, and the ids of some of them. */
export type SomeIds = { total: bigint; ids: string[] };

/** How many objects have rows that meet a condition, and the first ids of them. Another column than `id` may hold the id. */
export async function countIds(
  db: Database,
  table: Table,
  where: SQL | undefined,
  limit: number,
  idColumn = "id",
): Promise<SomeIds> {
  const t = db.table(table) as unknown as Record<string, Column>;
  const id = sql<string>`${t[idColumn]}`;
  const [totals, ids] = await db.snapshot((read) => [
    read
      .select({ total: sql<bigint>`count(distinct ${id})` })
      .from(db.table(table))
      .where(where),
    read.selectDistinct({ id }).from(db.table(table)).where(where).orderBy(sql`1`).limit(limit),
  ]);
  return { total: BigInt(totals[0]?.total ?? 0n), ids: ids.map((row) => row.id) };
}

/**
 * The ids of all rows whose columns equal `where`. That these are all still holds at the commit: others then make the
 * decision be taken anew.
 */
export async function allIds<T extends Table>(
  db: Database,
  tx: Transaction,
  table: T,
  where: Partial<Row<T>>,
  idColumn = "id",
): Promise<string[]> {
  const rows = await idsWhere(db, table, where, idColumn);
  const ids = rows.map(({ id }) => id);
  tx.expectAll(table, where, idColumn, ids);
  return ids;
}

/** The rows whose columns equal `where`. */
export async function rowsWhere<T extends Table>(
  db: Database,
  table: T,
  where: Partial<Row<T>>,
): Promise<Row<T>[]> {
  return db.read
    .select()
    .from(db.table(table))
    .where(equal(db, table, where));
}

type ReadRow<T extends Table> = (instanceId: string, key: string) => Awaitable<Row<T> | undefined>;

/**
 * Reads a row by its id, or by what else stands beside the instance in the key of its table; never older than the call.
 * Who asks for it again gets the same one, which is frozen, until something of its table changes in the instance.
 */
export function rowById<T extends Table>(db: Database, table: T): ReadRow<T> {
  const read = rowByKey(db, table);
  return currentRead(db, [table], async (instanceId, key) => frozen(await read(instanceId, key)));
}

/** The same, read each time: of a table that is written as often as it is read. One statement, prepared by the first read. */
export function rowByKey<T extends Table>(
  db: Database,
  table: T,
): (instanceId: string, key: string) => Promise<Row<T> | undefined> {
  const [, beside = "", ...more] = table.key;
  const columns = db.table(table) as unknown as Record<string, Column>;
  const [instanceId, key] = [columns["instanceId"], columns[beside]];
  if (instanceId === undefined || key === undefined || more.length > 0) {
    throw new Error(`the key of ${table.name} is not an instance and one thing more`);
  }
  const prepare = () =>
    db.read
      .select()
      .from(db.table(table))
      .where(and(eq(instanceId, parameter("instanceId")), eq(key, parameter("key"))))
      .prepare(`get_${table.name}`);
  let statement: ReturnType<typeof prepare> | undefined;
  return async (ofInstance, wanted) => {
    statement ??= prepare();
    const rows: Row<T>[] = await statement.execute({ instanceId: ofInstance, key: wanted });
    return rows[0];
  };
}

function idsWhere<T extends Table>(
  db: Database,
  table: T,
  where: Partial<Row<T>>,
  idColumn: string,
) {
  return db.read
    .select({ id: sql<string>`${columnOf(db, table, idColumn)}` })
    .from(db.table(table))
    .where(equal(db, table, where));
}

const equal = <T extends Table>(db: Database, table: T, where: Partial<Row<T>>) =>
  and(...Object.entries(where).map(([name, value]) => eq(columnOf(db, table, name), value)));

function columnOf(db: Database, table: Table, name: string): Column {
  const column = (db.table(table) as unknown as Record<string, Column>)[name];
  if (column === undefined) throw new Error(`${table.name} has no column ${name}`);
  return column;
}
