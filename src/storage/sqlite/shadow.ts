import type SqliteDatabase from "better-sqlite3";
import type { Heads, Shadow } from "../database.ts";
import { rowCounts, sequences } from "../kernel-tables.ts";
import type { AnyTable } from "../table.ts";
import type { Writer } from "./append.ts";
import { createTable, decorateTable } from "./ddl.ts";
import { exclusively, record } from "./migrate.ts";

const shadowName = (name: string): string => `${name}__rebuild`;

export function readHeads(connection: SqliteDatabase.Database): Heads {
  const rows = connection.prepare(`SELECT instance_id, last FROM ${sequences.name}`).raw().all();
  return new Map(
    rows.map((row) => [String(Reflect.get(Object(row), 0)), BigInt(Reflect.get(Object(row), 1))]),
  );
}

const sameHeads = (a: Heads, b: Heads): boolean =>
  a.size === b.size && [...a].every(([instance, last]) => b.get(instance) === last);

/** Fills copies of the tables beside the real ones; each step is one transaction of the writing connection. */
export function createShadow(
  connection: SqliteDatabase.Database,
  writer: Writer,
  tables: AnyTable[],
): Shadow {
  const drop = () => {
    for (const table of tables) connection.exec(`DROP TABLE IF EXISTS "${shadowName(table.name)}"`);
  };
  exclusively(connection, () => {
    drop();
    for (const table of tables) connection.exec(createTable(table, shadowName(table.name)));
  });

  const different = (table: AnyTable): number => {
    const pair = [`"${table.name}"`, `"${shadowName(table.name)}"`];
    const count = (a = pair[0], b = pair[1]) =>
      connection.prepare(`SELECT count(*) FROM (SELECT * FROM ${a} EXCEPT SELECT * FROM ${b})`);
    return Number(count().pluck().get()) + Number(count(pair[1], pair[0]).pluck().get());
  };

  return {
    async apply(changes) {
      exclusively(connection, () => {
        for (const change of changes) writer.change(change, 0n, shadowName);
      });
    },
    async compare(heads) {
      return exclusively(connection, () =>
        sameHeads(readHeads(connection), heads)
          ? new Map(tables.map((table) => [table.name, different(table)]))
          : undefined,
      );
    },
    async swap(heads) {
      return exclusively(connection, () => {
        if (!sameHeads(readHeads(connection), heads)) return false;
        for (const table of tables) {
          connection.exec(`DROP TABLE "${table.name}"`);
          connection.exec(`ALTER TABLE "${shadowName(table.name)}" RENAME TO "${table.name}"`);
          connection.prepare(`DELETE FROM ${rowCounts.name} WHERE table_name = ?`).run(table.name);
          for (const statement of decorateTable(table)) connection.exec(statement);
          record(connection, table, "projection");
        }
        return true;
      });
    },
    async drop() {
      exclusively(connection, drop);
    },
  };
}
