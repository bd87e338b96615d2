import type SqliteDatabase from "better-sqlite3";
import { storeFacts } from "../kernel-tables.ts";
import type { AnyTable } from "../table.ts";
import { endingOf, indexName } from "./ddl.ts";

const rows = 1_000_000;
/** Of these, how many have the first column of a key in common: the instance, nearly always. */
const rowsOfInstance = 100_000;

/**
 * Tells the planner how selective keys and indexes are: the whole key finds one row, each column before narrows evenly.
 *
 * Without a word about it SQLite takes ten rows for any part of a key. It then reads an instance from end to end rather
 * than use an index, because the primary key of a table without row ids holds the whole row. The numbers follow from the
 * tables, not from what is in them, so that plans are the same for ten rows and for ten million, and in every test.
 *
 * Source: sqlite.org/fileformat2.html, the table sqlite_stat1.
 */
export function stateStatistics(
  connection: SqliteDatabase.Database,
  tables: readonly AnyTable[],
): void {
  const wanted = tables.flatMap((table) => statisticsOf(table, endingOf(connection, table)));
  if (hasAll(connection, wanted)) return;
  // Makes the table of statistics; this one has a handful of rows.
  connection.exec(`ANALYZE "${storeFacts.name}"`);
  const remove = connection.prepare("DELETE FROM sqlite_stat1 WHERE tbl = ? AND idx = ?");
  const insert = connection.prepare("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)");
  for (const [table, index, stat] of wanted) {
    remove.run(table, index);
    insert.run(table, index, stat);
  }
  connection.exec("ANALYZE sqlite_schema");
}

type Statistic = readonly [table: string, index: string, stat: string];

function statisticsOf(table: AnyTable, ending: string): Statistic[] {
  // The primary key goes by the name of the table.
  const all = [
    { columns: table.key, name: table.name },
    ...table.indexes.map(({ columns }) => {
      return { columns, name: `${indexName(table, columns)}${ending}` };
    }),
  ];
  // Columns that several begin with find as many rows by each: which one is used is decided by what follows them.
  const found = new Map<string, number>();
  for (const { columns } of all)
    for (const [at] of columns.entries()) {
      const beginning = beginningOf(columns, at);
      found.set(beginning, Math.max(found.get(beginning) ?? 1, rowsLeft(columns.length, at)));
    }
  return all.map(({ columns, name }): Statistic => {
    const left = columns.map((_, at) =>
      at === columns.length - 1 ? 1 : (found.get(beginningOf(columns, at)) ?? 1),
    );
    return [table.name, name, [rows, ...left].join(" ")];
  });
}

const beginningOf = (columns: readonly string[], last: number): string =>
  columns.slice(0, last + 1).join(" ");

const rowsLeft = (columns: number, last: number): number =>
  columns === 1 ? 1 : Math.round(rowsOfInstance ** ((columns - 1 - last) / (columns - 1)));

function hasAll(connection: SqliteDatabase.Database, wanted: readonly Statistic[]): boolean {
  const find = "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'";
  if (connection.prepare(find).pluck().get() === undefined) return false;
  const present = new Set(
    connection
      .prepare("SELECT tbl || ' ' || idx || ' ' || stat FROM sqlite_stat1")
      .pluck()
      .all()
      .map(String),
  );
  return wanted.every((statistic) => present.has(statistic.join(" ")));
}
