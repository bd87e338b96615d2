import { randomBytes } from "node:crypto";
import type SqliteDatabase from "better-sqlite3";
import { rebuildReplaced } from "../refusals.ts";
import type { Bring, Heads, Shadow } from "../database.ts";
import { rowCounts, sequences, storeFacts } from "../kernel-tables.ts";
import type { AnyTable } from "../table.ts";
import type { Writer } from "./append.ts";
import { createTable, decorateTable } from "./ddl.ts";
import { exclusively, record } from "./migrate.ts";
import { stateStatistics } from "./statistics.ts";

const tokenName = "shadow";
const maxRounds = 100;
const shadowName = (name: string): string => `${name}__rebuild`;

export function readHeads(connection: SqliteDatabase.Database): Heads {
  const rows = connection.prepare(`SELECT instance_id, last FROM ${sequences.name}`).raw().all();
  return new Map(
    rows.map((row) => [String(Reflect.get(Object(row), 0)), BigInt(Reflect.get(Object(row), 1))]),
  );
}

const sameHeads = (a: Heads, b: Heads): boolean =>
  a.size === b.size && [...a].every(([instance, last]) => b.get(instance) === last);

/**
 * Fills copies of the tables beside the real ones; each step is one transaction of the writing connection. The copies
 * belong to the one who made them last: whoever finds a token that is not their own has been replaced and stops.
 */
export function createShadow(
  connection: SqliteDatabase.Database,
  writer: Writer,
  tables: AnyTable[],
): Shadow {
  const token = randomBytes(16);
  const drop = () => {
    for (const table of tables) connection.exec(`DROP TABLE IF EXISTS "${shadowName(table.name)}"`);
  };
  const isMine = () => {
    const statement = connection.prepare(`SELECT value FROM ${storeFacts.name} WHERE name = ?`);
    const value = statement.pluck().get(tokenName);
    return value instanceof Uint8Array && token.equals(value);
  };
  const asOwner = <T>(work: () => T): T =>
    exclusively(connection, () => {
      if (isMine()) return work();
      throw rebuildReplaced();
    });
  exclusively(connection, () => {
    drop();
    for (const table of tables) connection.exec(createTable(table, shadowName(table.name)));
    connection
      .prepare(`INSERT OR REPLACE INTO ${storeFacts.name} (name, value) VALUES (?, ?)`)
      .run(tokenName, token);
  });

  const different = (table: AnyTable): number => {
    const pair = [`"${table.name}"`, `"${shadowName(table.name)}"`];
    const count = (a = pair[0], b = pair[1]) =>
      connection.prepare(`SELECT count(*) FROM (SELECT * FROM ${a} EXCEPT SELECT * FROM ${b})`);
    return Number(count().pluck().get()) + Number(count(pair[1], pair[0]).pluck().get());
  };

  const apply: Shadow["apply"] = async (changes) =>
    asOwner(() => {
      for (const change of changes) writer.change(change, 0n, shadowName);
    });

  // Units come between the steps; what is left of the log gets shorter with every round.
  const atEndOfLog = async <T>(bring: Bring, work: () => T): Promise<T> => {
    for (let round = 0; round < maxRounds; round++) {
      const heads = readHeads(connection);
      await bring(heads, apply);
      const done = asOwner(() =>
        sameHeads(readHeads(connection), heads) ? { result: work() } : undefined,
      );
      if (done !== undefined) return done.result;
    }
    throw new Error("the log grows faster than it can be replayed");
  };

  return {
    apply,
    compare: (bring) =>
      atEndOfLog(bring, () => new Map(tables.map((table) => [table.name, different(table)]))),
    swap: (bring) =>
      atEndOfLog(bring, () => {
        for (const table of tables) {
          connection.exec(`DROP TABLE "${table.name}"`);
          connection.exec(`ALTER TABLE "${shadowName(table.name)}" RENAME TO "${table.name}"`);
          connection.prepare(`DELETE FROM ${rowCounts.name} WHERE table_name = ?`).run(table.name);
          for (const statement of decorateTable(table)) connection.exec(statement);
          record(connection, table, "projection");
        }
        // They went with the tables that were dropped.
        stateStatistics(connection, tables);
      }),
    async drop() {
      exclusively(connection, () => {
        if (isMine()) drop();
      });
    },
  };
}
