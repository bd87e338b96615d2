import { randomBytes } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type SqliteDatabase from "better-sqlite3";
import { rebuildReplaced } from "../refusals.ts";
import { threadMs } from "../thread-time.ts";
import type { Bring, Heads, Shadow } from "../database.ts";
import { rowCounts, sequences, storeFacts } from "../kernel-tables.ts";
import { type AnyTable, columnName } from "../table.ts";
import type { RowChange } from "../row-change.ts";
import { markOthers } from "./apply.ts";
import { countTriggers, createIndexes, createTable, endingOf, indexEndings } from "./ddl.ts";
import { exclusively, record } from "./migrate.ts";
import { stateStatistics } from "./statistics.ts";

const tokenName = "shadow";
const maxRounds = 100;
// So long a part of the work may take the thread, and one thing more.
const partMs = 10;
const removedAtOnce = 100;
const shadowName = (name: string): string => `${name}__rebuild`;
const replacedName = (name: string): string => `${name}__replaced`;

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
 *
 * No step takes time in proportion to the tables: copies have their indexes and counts from the beginning, they take their places
 * a few at a time, and the tables that they replace are emptied a part at a time.
 */
export async function createShadow(
  connection: SqliteDatabase.Database,
  change: (change: RowChange, rename: (table: string) => string) => void,
  tables: AnyTable[],
): Promise<Shadow> {
  const { begin, isMine, asOwner } = ownership(connection);
  /** Removes tables; nothing more is done where another owner has begun, who removes them as well. */
  const remove = async (nameOf: (name: string) => string) => {
    const left = [...tables];
    while (left.length > 0) {
      exclusively(connection, () => {
        if (!isMine()) left.length = 0;
        inPart(() => {
          const [table] = left;
          if (table === undefined) return false;
          if (!removePart(connection, nameOf(table.name), table.key)) left.shift();
          return true;
        });
      });
      await nextTurn();
    }
  };
  begin();
  await remove(shadowName);
  await remove(replacedName);
  asOwner(() => {
    for (const table of tables) createCopy(connection, table);
  });

  const replaced = new Set<string>();
  const apply: Shadow["apply"] = async (changes) =>
    asOwner(() => {
      for (const each of changes) {
        if (!replaced.has(each.table.name)) change(each, shadowName);
      }
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
      atEndOfLog(
        bring,
        () => new Map(tables.map((table) => [table.name, different(connection, table)])),
      ),
    // A copy that is in its place is kept up by the units that are written; the others are brought on.
    async swap(bring) {
      const left = [...tables];
      while (left.length > 0) {
        await atEndOfLog(bring, () => {
          const before = left.length;
          inPart(() => {
            const table = left.shift();
            if (table === undefined) return false;
            replace(connection, table);
            markOthers(connection);
            replaced.add(table.name);
            return true;
          });
          // They went with the names of the indexes.
          stateStatistics(
            connection,
            tables.slice(tables.length - before, tables.length - left.length),
          );
        });
        await nextTurn();
      }
      await remove(replacedName);
    },
    drop: () => remove(shadowName),
  };
}

/** Whose the copies are: of the one who began last. */
function ownership(connection: SqliteDatabase.Database) {
  const token = randomBytes(16);
  const begin = () =>
    exclusively(connection, () =>
      connection
        .prepare(`INSERT OR REPLACE INTO ${storeFacts.name} (name, value) VALUES (?, ?)`)
        .run(tokenName, token),
    );
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
  return { begin, isMine, asOwner };
}

const different = (connection: SqliteDatabase.Database, table: AnyTable): number => {
  const pair = [`"${table.name}"`, `"${shadowName(table.name)}"`];
  const count = (a = pair[0], b = pair[1]) =>
    connection.prepare(`SELECT count(*) FROM (SELECT * FROM ${a} EXCEPT SELECT * FROM ${b})`);
  return Number(count().pluck().get()) + Number(count(pair[1], pair[0]).pluck().get());
};

/** Does one thing after the other, until there is nothing left or others have waited long enough for the thread. */
function inPart(next: () => boolean): void {
  const end = threadMs() + partMs;
  while (next() && threadMs() < end);
}

function createCopy(connection: SqliteDatabase.Database, table: AnyTable): void {
  const name = shadowName(table.name);
  const [first, second] = indexEndings;
  const ending = endingOf(connection, table) === first ? second : first;
  connection.exec(createTable(table, name));
  for (const statement of createIndexes(table, name, ending)) connection.exec(statement);
  for (const [, statement = ""] of countTriggers(table, name)) connection.exec(statement);
}

function replace(connection: SqliteDatabase.Database, table: AnyTable): void {
  const { name } = table;
  const copy = shadowName(name);
  for (const each of [name, copy]) {
    for (const [trigger] of countTriggers(table, each)) {
      connection.exec(`DROP TRIGGER IF EXISTS "${trigger}"`);
    }
  }
  connection.exec(`ALTER TABLE "${name}" RENAME TO "${replacedName(name)}"`);
  connection.exec(`ALTER TABLE "${copy}" RENAME TO "${name}"`);
  for (const [, statement = ""] of countTriggers(table)) connection.exec(statement);
  connection.prepare(`DELETE FROM ${rowCounts.name} WHERE table_name = ?`).run(name);
  const take = `UPDATE ${rowCounts.name} SET table_name = ? WHERE table_name = ?`;
  connection.prepare(take).run(name, copy);
  record(connection, table, "projection");
}

/** Takes something of a table away, and says whether something is left: triggers, then rows, then the empty table. */
function removePart(connection: SqliteDatabase.Database, name: string, key: string[]): boolean {
  const find = "SELECT name FROM sqlite_schema WHERE tbl_name = ? AND type = ?";
  const ofType = (type: string) => connection.prepare(find).pluck().all(name, type).map(String);
  if (ofType("table").length === 0) return false;
  for (const trigger of ofType("trigger")) connection.exec(`DROP TRIGGER "${trigger}"`);
  const columns = key.map((each) => `"${columnName(each)}"`).join(", ");
  const some = `SELECT ${columns} FROM "${name}" LIMIT ${removedAtOnce}`;
  const { changes } = connection
    .prepare(`DELETE FROM "${name}" WHERE (${columns}) IN (${some})`)
    .run();
  if (changes > 0) return true;
  connection.exec(`DROP TABLE "${name}"`);
  connection.prepare(`DELETE FROM ${rowCounts.name} WHERE table_name = ?`).run(name);
  return false;
}
