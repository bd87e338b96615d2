import { createHash } from "node:crypto";
import { events, rowCounts } from "../kernel-tables.ts";
import { type AnyTable, type ColumnKind, columnName } from "../table.ts";

export const types: Record<ColumnKind, string> = {
  text: "text",
  int: "integer",
  int64: "bigint",
  bool: "boolean",
  json: "jsonb",
  instant: "bigint",
  bytes: "bytea",
};

/** Tables of this driver alone: they are no part of what the store holds. */
export const commitCounters = "commit_counters";
export const commitParts = "commit_parts";
export const appendBatches = "append_batches";

/** So many of the last batches of an instance tell what they changed. */
export const toldBatches = 61;

const longestName = 63;

/** PostgreSQL cuts longer names, so that two could become one. */
function fitting(name: string): string {
  if (Buffer.byteLength(name) <= longestName) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.slice(0, longestName - 9)}_${hash}`;
}

export const quote = (name: string): string => `"${name}"`;
const list = (keys: string[]): string => keys.map((key) => quote(columnName(key))).join(", ");

// Texts are compared and ordered byte by byte, as on SQLite, whatever the language of the server.
const columnType = ({ kind, nullable }: { kind: ColumnKind; nullable: boolean }): string =>
  `${types[kind]}${kind === "text" ? ' COLLATE "C"' : ""}${nullable ? "" : " NOT NULL"}`;

export const keyName = (table: string): string => fitting(`${table}_pkey`);

/** The statement that makes the table, under its own name or that of a rebuild. */
export function createTable(table: AnyTable, name = table.name): string {
  const columns = Object.entries(table.columns).map(
    ([key, column]) => `${quote(columnName(key))} ${columnType(column)}`,
  );
  const key = `CONSTRAINT ${quote(keyName(name))} PRIMARY KEY (${list(table.key)})`;
  // Room in the pages keeps the few rows that every commit changes beside their old versions.
  const isHot = table === rowCounts || name === "sequences";
  return `CREATE TABLE ${quote(name)} (${columns.join(", ")}, ${key})${isHot ? " WITH (fillfactor = 50)" : ""}`;
}

export const addColumn = (table: AnyTable, key: string): string => {
  const column = table.columns[key];
  if (column === undefined) throw new Error(`table ${table.name} has no column ${key}`);
  return `ALTER TABLE ${quote(table.name)} ADD COLUMN ${quote(columnName(key))} ${columnType(column)}`;
};

export type NamedIndex = { name: string; columns: string[]; unique: boolean };

export const indexesOf = (table: AnyTable, name = table.name): NamedIndex[] =>
  table.indexes.map(({ columns, unique }) => ({
    name: fitting(`${name}_${columns.map(columnName).join("_")}`),
    columns,
    unique,
  }));

export const createIndex = ({ name, columns, unique }: NamedIndex, table: string): string =>
  `CREATE ${unique ? "UNIQUE " : ""}INDEX ${quote(name)} ON ${quote(table)} (${list(columns)})`;

/** The statements that make a trigger, by its name. */
export type Trigger = [name: string, ...statements: string[]];

/** Triggers, and the counts of the rows that are there. */
export const triggersOf = (table: AnyTable): Trigger[] => [
  ...countTriggers(table),
  ...(table.name === events.name ? [guardEvents] : []),
];

function countTriggers(table: AnyTable): Trigger[] {
  if (table.countedBy === undefined) return [];
  const column = quote(columnName(table.countedBy));
  const counts = quote(rowCounts.name);
  const counter = (name: string, event: string, body: string) => [
    `CREATE OR REPLACE FUNCTION ${quote(name)}() RETURNS trigger
       LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$`,
    `CREATE TRIGGER ${quote(name)} AFTER ${event} ON ${quote(table.name)}
       FOR EACH ROW EXECUTE FUNCTION ${quote(name)}()`,
  ];
  const [into, out] = [fitting(`${table.name}_counted_in`), fitting(`${table.name}_counted_out`)];
  return [
    [
      into,
      `INSERT INTO ${counts} SELECT '${table.name}', ${column}, count(*) FROM ${quote(table.name)}
         GROUP BY 2 ON CONFLICT (table_name, counted) DO UPDATE SET rows = excluded.rows`,
      ...counter(
        into,
        "INSERT",
        `INSERT INTO ${counts} AS c VALUES ('${table.name}', NEW.${column}, 1)
           ON CONFLICT (table_name, counted) DO UPDATE SET rows = c.rows + 1`,
      ),
    ],
    [
      out,
      ...counter(
        out,
        "DELETE",
        `UPDATE ${counts} SET rows = rows - 1 WHERE table_name = '${table.name}' AND counted = OLD.${column}`,
      ),
    ],
  ];
}

/** Events are append-only: the database itself refuses to change or remove one. */
const guardEvents: Trigger = [
  "events_append_only",
  `CREATE OR REPLACE FUNCTION events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE EXCEPTION 'events are append-only'; END $$`,
  `CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${quote(events.name)}
     FOR EACH STATEMENT EXECUTE FUNCTION events_append_only()`,
];

/**
 * What the driver keeps for itself: how many units each instance has seen, what the last of them changed, and what became of
 * each batch. What they changed may be lost: whoever misses it takes everything for changed.
 */
export const ownTables = [
  `CREATE TABLE IF NOT EXISTS ${commitCounters} (
     instance_id text COLLATE "C" PRIMARY KEY, commits bigint NOT NULL) WITH (fillfactor = 50)`,
  `CREATE UNLOGGED TABLE IF NOT EXISTS ${commitParts} (
     instance_id text COLLATE "C", slot int, commits bigint NOT NULL, units int NOT NULL, parts jsonb,
     PRIMARY KEY (instance_id, slot)) WITH (fillfactor = 50)`,
  `CREATE TABLE IF NOT EXISTS ${appendBatches} (
     key uuid PRIMARY KEY, results jsonb, at timestamptz NOT NULL DEFAULT now())`,
  `CREATE INDEX IF NOT EXISTS ${appendBatches}_at ON ${appendBatches} (at)`,
];
