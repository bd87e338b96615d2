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

/**
 * Indexes and triggers, made after the rows so that a rebuild fills a bare table; without those that are there already.
 */
export function decorateTable(table: AnyTable, present: ReadonlySet<string> = new Set()): string[] {
  const indexes = table.indexes.map(({ columns, unique }): Decoration => {
    const name = indexName(table, columns);
    const index = `CREATE ${unique ? "UNIQUE " : ""}INDEX "${name}" ON "${table.name}" (${list(columns)})`;
    return [name, index];
  });
  const guards = table.name === events.name ? guardEvents(table) : [];
  return [...indexes, ...countTriggers(table), ...guards]
    .filter(([name]) => !present.has(name))
    .flatMap(([, ...statements]) => statements);
}

export const indexName = (table: AnyTable, columns: string[]): string =>
  `${table.name}_${columns.map(columnName).join("_")}`;

type Decoration = [name: string, ...statements: string[]];

function countTriggers(table: AnyTable): Decoration[] {
  if (table.countedBy === undefined) return [];
  const column = columnName(table.countedBy);
  const counts = rowCounts.name;
  const [into, out] = [`${table.name}_counted_in`, `${table.name}_counted_out`];
  return [
    [
      into,
      `INSERT INTO "${counts}" SELECT '${table.name}', "${column}", count(*) FROM "${table.name}"
         WHERE true GROUP BY 2 ON CONFLICT DO UPDATE SET rows = excluded.rows`,
      `CREATE TRIGGER "${into}" AFTER INSERT ON "${table.name}" BEGIN
         INSERT INTO "${counts}" VALUES ('${table.name}', NEW."${column}", 1)
         ON CONFLICT DO UPDATE SET rows = rows + 1; END`,
    ],
    [
      out,
      `CREATE TRIGGER "${out}" AFTER DELETE ON "${table.name}" BEGIN
         UPDATE "${counts}" SET rows = rows - 1 WHERE table_name = '${table.name}' AND counted = OLD."${column}"; END`,
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
