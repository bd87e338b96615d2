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

/** Indexes and triggers, made after the rows so that a rebuild fills a bare table. */
export function decorateTable(table: AnyTable): string[] {
  const indexes = table.indexes.map(
    ({ columns, unique }) =>
      `CREATE ${unique ? "UNIQUE " : ""}INDEX "${table.name}_${columns.map(columnName).join("_")}"
       ON "${table.name}" (${list(columns)})`,
  );
  return [...indexes, ...countTriggers(table), ...(table.name === events.name ? guardEvents : [])];
}

function countTriggers(table: AnyTable): string[] {
  if (table.countedBy === undefined) return [];
  const column = columnName(table.countedBy);
  const counts = rowCounts.name;
  return [
    `INSERT INTO "${counts}" SELECT '${table.name}', "${column}", count(*) FROM "${table.name}"
       WHERE true GROUP BY 2 ON CONFLICT DO UPDATE SET rows = excluded.rows`,
    `CREATE TRIGGER "${table.name}_counted_in" AFTER INSERT ON "${table.name}" BEGIN
       INSERT INTO "${counts}" VALUES ('${table.name}', NEW."${column}", 1)
       ON CONFLICT DO UPDATE SET rows = rows + 1; END`,
    `CREATE TRIGGER "${table.name}_counted_out" AFTER DELETE ON "${table.name}" BEGIN
       UPDATE "${counts}" SET rows = rows - 1 WHERE table_name = '${table.name}' AND counted = OLD."${column}"; END`,
  ];
}

/** Events are append-only: the database itself refuses to change or remove one. */
const guardEvents = ["UPDATE", "DELETE"].map(
  (verb) =>
    `CREATE TRIGGER "${events.name}_no_${verb.toLowerCase()}" BEFORE ${verb} ON "${events.name}" BEGIN
       SELECT RAISE(ABORT, 'events are append-only'); END`,
);
