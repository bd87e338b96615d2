import type SqliteDatabase from "better-sqlite3";
import { formatNewer } from "../refusals.ts";
import { kernelTables, sequences, storeTables } from "../kernel-tables.ts";
import { allTables, type Schema, shapeOf, storeFormat, type TableRole } from "../schema.ts";
import { type AnyTable, columnName } from "../table.ts";
import { addColumn, createTable, decorateTable } from "./ddl.ts";
import { stateStatistics } from "./statistics.ts";

type Connection = SqliteDatabase.Database;

/**
 * Brings the file to the schema of this build, in one transaction. Kernel and state tables are only ever widened by
 * nullable columns, indexes and triggers; a projection of another shape is left for a rebuild.
 */
export function migrate(connection: Connection, schema: Schema): AnyTable[] {
  return exclusively(connection, () => {
    const format = Number(connection.pragma("user_version", { simple: true }));
    if (format > storeFormat) {
      throw formatNewer(`the store ${connection.name}`, format, storeFormat);
    }
    if (!exists(connection, storeTables.name)) for (const t of kernelTables) make(connection, t);
    connection.pragma(`user_version = ${storeFormat}`, { simple: true });
    const eventful = !isNew(connection);
    const stale: AnyTable[] = [];
    const decorations = decorationsOf(connection);
    const shapes = recordedShapes(connection);
    for (const { table, role } of allTables(schema)) {
      const present = decorations.get(table.name);
      if (present === undefined) {
        make(connection, table);
        if (role === "projection" && eventful) stale.push(table);
        else record(connection, table, role);
      } else if (role === "projection") {
        if (shapes.get(table.name) !== shapeOf(table)) stale.push(table);
      } else {
        if (shapes.get(table.name) !== shapeOf(table)) {
          widen(connection, table);
          record(connection, table, role);
        }
        for (const statement of decorateTable(table, present)) connection.exec(statement);
      }
    }
    stateStatistics(
      connection,
      allTables(schema).map(({ table }) => table),
    );
    return stale;
  });
}

const patienceMs = 10_000;

/** Runs work in one write transaction, waiting for other processes to finish theirs. */
export function exclusively<T>(connection: Connection, work: () => T): T {
  connection.pragma(`busy_timeout = ${patienceMs}`, { simple: true });
  try {
    return connection.transaction(work).immediate();
  } finally {
    // Units wait without blocking the event loop: the driver retries them itself.
    connection.pragma("busy_timeout = 0", { simple: true });
  }
}

/** Whether no event was ever written. */
export const isNew = (connection: Connection): boolean =>
  !exists(connection, sequences.name) ||
  connection.prepare(`SELECT 1 FROM ${sequences.name} LIMIT 1`).pluck().get() === undefined;

const exists = (connection: Connection, name: string): boolean =>
  connection
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .pluck()
    .get(name) !== undefined;

export function make(connection: Connection, table: AnyTable): void {
  connection.exec(createTable(table));
  for (const statement of decorateTable(table)) connection.exec(statement);
}

export function record(connection: Connection, table: AnyTable, role: TableRole): void {
  connection
    .prepare(`INSERT OR REPLACE INTO ${storeTables.name} (name, role, shape) VALUES (?, ?, ?)`)
    .run(table.name, role, shapeOf(table));
}

/** By the name of each table that has one, the shape that it was made in. */
const recordedShapes = (connection: Connection): Map<unknown, unknown> =>
  new Map(
    connection.prepare(`SELECT name, shape FROM ${storeTables.name}`).raw().all() as [
      unknown,
      unknown,
    ][],
  );

/** By the name of each table that there is, its indexes and triggers. */
function decorationsOf(connection: Connection): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const rows = connection
    .prepare("SELECT type, name, tbl_name FROM sqlite_schema ORDER BY type <> 'table'")
    .raw()
    .all() as [type: string, name: string, table: string][];
  for (const [type, name, table] of rows) {
    if (type === "table") found.set(name, new Set());
    else found.get(table)?.add(name);
  }
  return found;
}

function widen(connection: Connection, table: AnyTable): void {
  const present = new Set(
    connection.prepare(`SELECT name FROM pragma_table_info(?)`).pluck().all(table.name),
  );
  for (const key of Object.keys(table.columns)) {
    if (present.has(columnName(key))) continue;
    if (table.columns[key]?.nullable !== true) {
      throw new Error(`table ${table.name}: a new column must be nullable, ${key} is not`);
    }
    connection.exec(addColumn(table, key));
  }
}
