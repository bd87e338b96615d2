import { randomBytes } from "node:crypto";
import type pg from "pg";
import { formatNewer } from "../refusals.ts";
import { failedPrecondition } from "../../errors.ts";
import { kernelTables, sequences, storeFacts, storeTables } from "../kernel-tables.ts";
import { allTables, type Schema, shapeOf, storeFormat, type TableRole } from "../schema.ts";
import { type AnyTable, columnName } from "../table.ts";
import { functions, projectionsName } from "./append-function.ts";
import { administrator } from "./connect.ts";
import {
  addColumn,
  createIndex,
  createTable,
  indexesOf,
  ownTables,
  quote,
  triggersOf,
} from "./ddl.ts";
import { serverError } from "./errors.ts";

type Connection = pg.Client;

// Any number that no other program locks with: "idsvc" in ASCII.
const migrationLock = 0x69_64_73_76_63;
export const formatName = "format";

/**
 * Brings the database to the schema of this build, in one transaction; of several replicas one does it and the others
 * wait for it. Kernel and state tables are only ever widened by nullable columns and indexes; a projection of another
 * shape is left for a rebuild. A store that is up to date is only read.
 */
export async function migrate(url: string, schema: Schema): Promise<AnyTable[]> {
  await using admin = administrator(url);
  return await tellingRights(admin.transaction((connection) => migrateWithin(connection, schema)));
}

/** @throws FAILED_PRECONDITION STORE_RIGHTS_MISSING when the user may not do what the work needs */
export async function tellingRights<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (serverError(error)?.code !== "42501") throw error;
    throw failedPrecondition(
      "STORE_RIGHTS_MISSING",
      "the database user may not make tables: let it own the database, or GRANT CREATE ON SCHEMA public",
      { cause: error },
    );
  }
}

/** As `migrate`, within a transaction that goes on; `judge` may refuse the database once nobody else can change it. */
export async function migrateWithin(
  connection: Connection,
  schema: Schema,
  judge: (connection: Connection) => Promise<void> = async () => {},
): Promise<AnyTable[]> {
  await connection.query("SELECT pg_advisory_xact_lock($1)", [migrationLock]);
  await judge(connection);
  const present = await tablesOf(connection);
  if (present.has(storeFacts.name)) await checkFormat(connection);
  if (!present.has(storeTables.name)) {
    for (const table of kernelTables) {
      await make(connection, table);
      present.add(table.name);
    }
    const format = Buffer.from(String(storeFormat));
    await connection.query(`INSERT INTO ${storeFacts.name} VALUES ($1, $2)`, [formatName, format]);
    for (const statement of ownTables) await connection.query(statement);
  }
  await makeFunctions(connection);
  const shapes = await shapesOf(connection);
  const decorations = await decorationsOf(connection);
  const eventful = !(await isNew(connection));
  const stale: AnyTable[] = [];
  for (const { table, role } of allTables(schema)) {
    if (!present.has(table.name)) {
      await make(connection, table);
      if (role === "projection" && eventful) stale.push(table);
      else await record(connection, table, role);
    } else if (role === "projection") {
      if (shapes.get(table.name) !== shapeOf(table)) stale.push(table);
    } else {
      if (shapes.get(table.name) !== shapeOf(table)) {
        await widen(connection, table);
        await record(connection, table, role);
      }
      await decorate(connection, table, decorations.get(table.name));
    }
  }
  return stale;
}

/** Whether no event was ever written. */
export async function isNew(connection: Pick<pg.Client | pg.Pool, "query">): Promise<boolean> {
  const { rows: tables } = await connection.query<{ exists: boolean }>(
    "SELECT to_regclass($1) IS NOT NULL AS exists",
    [quote(sequences.name)],
  );
  if (tables[0]?.exists !== true) return true;
  return (await connection.query(`SELECT FROM ${sequences.name} LIMIT 1`)).rows.length === 0;
}

/** The format of a store that is there. */
export async function formatOf(connection: Pick<pg.Client | pg.Pool, "query">): Promise<number> {
  const { rows } = await connection.query<{ value: Buffer }>(
    `SELECT value FROM ${storeFacts.name} WHERE name = $1`,
    [formatName],
  );
  return Number(rows[0]?.value.toString() ?? storeFormat);
}

async function checkFormat(connection: Connection): Promise<void> {
  const format = await formatOf(connection);
  if (format > storeFormat) throw formatNewer("the store", format, storeFormat);
}

/** The names of the tables that are there. */
export async function tablesOf(connection: Connection): Promise<Set<string>> {
  const { rows } = await connection.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
  );
  return new Set(rows.map(({ name }) => name));
}

async function shapesOf(connection: Connection): Promise<Map<string, string>> {
  const { rows } = await connection.query<{ name: string; shape: string }>(
    `SELECT name, shape FROM ${storeTables.name}`,
  );
  return new Map(rows.map(({ name, shape }) => [name, shape]));
}

async function makeFunctions(connection: Connection): Promise<void> {
  for (const [name, create] of functions) {
    const { rows } = await connection.query("SELECT FROM pg_proc WHERE proname = $1", [name]);
    if (rows.length === 0) await connection.query(create);
  }
}

async function make(connection: Connection, table: AnyTable): Promise<void> {
  await connection.query(createTable(table));
  await decorate(connection, table);
}

/** Makes the indexes and triggers of a table that are not there yet. */
export async function decorate(
  connection: Connection,
  table: AnyTable,
  present: ReadonlySet<string> = new Set(),
): Promise<void> {
  for (const index of indexesOf(table)) {
    if (!present.has(index.name)) await connection.query(createIndex(index, table.name));
  }
  for (const [name, ...statements] of triggersOf(table)) {
    if (present.has(name)) continue;
    for (const statement of statements) await connection.query(statement);
  }
}

async function decorationsOf(connection: Connection): Promise<Map<string, Set<string>>> {
  const { rows } = await connection.query<{ table: string; name: string }>(
    `SELECT c.relname AS table, i.relname AS name FROM pg_index x
       JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
       WHERE c.relnamespace = current_schema()::regnamespace
     UNION ALL SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
       WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal`,
  );
  const found = new Map<string, Set<string>>();
  for (const { table, name } of rows) {
    found.set(table, (found.get(table) ?? new Set()).add(name));
  }
  return found;
}

/** Notes the shape of a table; that of a projection makes another version of them all. */
export async function record(
  connection: Connection,
  table: AnyTable,
  role: TableRole,
): Promise<void> {
  const { rowCount } = await connection.query(
    `INSERT INTO ${storeTables.name} AS t (name, role, shape) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET role = excluded.role, shape = excluded.shape
     WHERE (t.role, t.shape) <> (excluded.role, excluded.shape)`,
    [table.name, role, shapeOf(table)],
  );
  if (role !== "projection" || rowCount === 0) return;
  const version = Buffer.from(randomBytes(16).toString("hex"));
  await connection.query(
    `INSERT INTO ${storeFacts.name} (name, value) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    [projectionsName, version],
  );
}

async function widen(connection: Connection, table: AnyTable): Promise<void> {
  const { rows } = await connection.query<{ name: string }>(
    "SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0",
    [quote(table.name)],
  );
  const present = new Set(rows.map(({ name }) => name));
  for (const key of Object.keys(table.columns)) {
    if (present.has(columnName(key))) continue;
    if (table.columns[key]?.nullable !== true) {
      throw new Error(`table ${table.name}: a new column must be nullable, ${key} is not`);
    }
    await connection.query(addColumn(table, key));
  }
}
