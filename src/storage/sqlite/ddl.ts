import type SqliteDatabase from "better-sqlite3";
import { events, rowCounts } from "../kernel-tables.ts";
import { type AnyTable, type ColumnKind, columnName } from "../table.ts";

const types: Record<ColumnKind, string> = {
  text: "TEXT",
  int: "INTEGER",
  int64: "INTEGER",
  bool: "INTEGER",
  json: "TEXT",
  instant: "INTEGER",
  bytes: "BLOB",
};

const list = (keys: string[]): string => keys.map((key) => `"${columnName(key)}"`).join(", ");

const columnType = (column: { kind: ColumnKind; nullable: boolean }): string =>
  `${types[column.kind]}${column.nullable ? "" : " NOT NULL"}`;

/** The statement that makes the table, under its own name or that of a rebuild. */
export function createTable(table: AnyTable, name = table.name): string {
  const columns = Object.entries(table.columns).map(
    ([key, column]) => `"${columnName(key)}" ${columnType(column)}`,
  );
  return `CREATE TABLE "${name}" (${columns.join(", ")}, PRIMARY KEY (${list(table.key)})) STRICT, WITHOUT ROWID`;
}

export const addColumn = (table: AnyTable, key: string): string => {
  const column = table.columns[key];
  if (column === undefined) throw new Error(`table ${table.name} has no column ${key}`);
  return `ALTER TABLE "${table.name}" ADD COLUMN "${columnName(key)}" ${columnType(column)}`;
};

/** Indexes and triggers, without those that are there already. */
export function decorateTable(table: AnyTable, present: ReadonlySet<string> = new Set()): string[] {
  const indexes = table.indexes.map(({ columns }, at): Decoration => {
    const name = indexName(table, columns);
    return [name, ...createIndexes(table).slice(at, at + 1)];
  });
  const guards = table.name === events.name ? guardEvents(table) : [];
  const counts = countTriggers(table).map(([name, ...statements]): Decoration => {
    return [name, ...(name === countedIn(table.name) ? [countRows(table)] : []), ...statements];
  });
  return [...indexes, ...counts, ...guards]
    .filter(([name]) => !present.has(name))
    .flatMap(([, ...statements]) => statements);
}

/** The indexes of a table, which may have another name. SQLite renames no index, so those of a copy end otherwise. */
export const createIndexes = (table: AnyTable, name = table.name, ending = ""): string[] =>
  table.indexes.map(
    ({ columns, unique }) =>
      `CREATE ${unique ? "UNIQUE " : ""}INDEX "${indexName(table, columns)}${ending}" ON "${name}" (${list(columns)})`,
  );

/** How the names of a table's indexes end: with every rebuild the other way. */
export const indexEndings = ["", "__2"] as const;

export function endingOf(connection: SqliteDatabase.Database, table: AnyTable): string {
  const [index] = table.indexes;
  if (index === undefined) return indexEndings[0];
  const name = `${indexName(table, index.columns)}${indexEndings[1]}`;
  const find = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ? AND tbl_name = ?";
  const isThere = connection.prepare(find).pluck().get(name, table.name) !== undefined;
  return indexEndings[isThere ? 1 : 0];
}

export const indexName = (table: AnyTable, columns: string[]): string =>
  `${table.name}_${columns.map(columnName).join("_")}`;

type Decoration = [name: string, ...statements: string[]];

const countedIn = (name: string): string => `${name}_counted_in`;

const countRows = ({ name, countedBy = "" }: AnyTable): string =>
  `INSERT INTO "${rowCounts.name}" SELECT '${name}', "${columnName(countedBy)}", count(*) FROM "${name}"
     WHERE true GROUP BY 2 ON CONFLICT DO UPDATE SET rows = excluded.rows`;

/** What counts the rows that come and go, of a table that may have another name: they are counted under that. */
export function countTriggers(table: AnyTable, name = table.name): Decoration[] {
  if (table.countedBy === undefined) return [];
  const column = columnName(table.countedBy);
  const counts = rowCounts.name;
  const [into, out] = [countedIn(name), `${name}_counted_out`];
  return [
    [
      into,
      `CREATE TRIGGER "${into}" AFTER INSERT ON "${name}" BEGIN
         INSERT INTO "${counts}" VALUES ('${name}', NEW."${column}", 1)
         ON CONFLICT DO UPDATE SET rows = rows + 1; END`,
    ],
    [
      out,
      `CREATE TRIGGER "${out}" AFTER DELETE ON "${name}" BEGIN
         UPDATE "${counts}" SET rows = rows - 1 WHERE table_name = '${name}' AND counted = OLD."${column}"; END`,
    ],
  ];
}

/**
 * Events are append-only: the database itself refuses to change or remove one. Putting one in the place of another
 * (`INSERT OR REPLACE`) removes it without a delete trigger, so an insert looks for what it would replace.
 */
function guardEvents({ name, key, indexes }: AnyTable): Decoration[] {
  const unique = [key, ...indexes.filter((index) => index.unique).map(({ columns }) => columns)];
  const same = (columns: string[]) =>
    columns.map((each) => `"${columnName(each)}" = NEW."${columnName(each)}"`).join(" AND ");
  const replaces = unique.map((each) => `EXISTS (SELECT 1 FROM "${name}" WHERE ${same(each)})`);
  const refuse = "BEGIN SELECT RAISE(ABORT, 'events are append-only'); END";
  return [
    ...["UPDATE", "DELETE"].map((verb): Decoration => {
      const trigger = `${name}_no_${verb.toLowerCase()}`;
      return [trigger, `CREATE TRIGGER "${trigger}" BEFORE ${verb} ON "${name}" ${refuse}`];
    }),
    [
      `${name}_no_replace`,
      `CREATE TRIGGER "${name}_no_replace" BEFORE INSERT ON "${name}" WHEN ${replaces.join(" OR ")} ${refuse}`,
    ],
  ];
}
