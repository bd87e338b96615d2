import { randomBytes } from "node:crypto";
import type pg from "pg";
import { rebuildReplaced } from "../refusals.ts";
import type { Heads, Shadow } from "../database.ts";
import { rowCounts, sequences, storeFacts } from "../kernel-tables.ts";
import type { RowChange } from "../row-change.ts";
import type { AnyTable } from "../table.ts";
import { replayFunction } from "./append-function.ts";
import { Shapes } from "./batch.ts";
import { type Administrator, administrator } from "./connect.ts";
import { commitCounters, createIndex, createTable, indexesOf, keyName, quote } from "./ddl.ts";
import { isRetryable } from "./errors.ts";
import { commitChannel } from "./monitor.ts";
import { decorate, record } from "./migrate.ts";

const tokenName = "shadow";
const tries = 5;
const shadowName = (name: string): string => `${name}__rebuild`;

type Asking = Pick<pg.Client | pg.Pool, "query">;

export async function readHeads(connection: Asking): Promise<Heads> {
  const { rows } = await connection.query<{ instance_id: string; last: string }>(
    `SELECT instance_id, last FROM ${sequences.name}`,
  );
  return new Map(rows.map((row) => [row.instance_id, BigInt(row.last)]));
}

/**
 * Fills copies of the tables beside the real ones; each step is one transaction. The copies belong to the one who made
 * them last: whoever finds a token that is not their own has been replaced and stops.
 */
export async function createShadow(url: string, tables: AnyTable[]): Promise<Shadow> {
  const token = randomBytes(16);
  const admin = administrator(url);

  const isMine = async (connection: pg.Client): Promise<boolean> => {
    // The lock keeps the token until the step is done: nobody can take the copies away in the middle of it.
    const { rows } = await connection.query<{ value: Buffer }>(
      `SELECT value FROM ${storeFacts.name} WHERE name = $1 FOR SHARE`,
      [tokenName],
    );
    return rows[0] !== undefined && token.equals(rows[0].value);
  };
  const asOwner: Administrator["transaction"] = (work, isolation) =>
    admin.transaction(async (connection) => {
      if (await isMine(connection)) return work(connection);
      throw rebuildReplaced();
    }, isolation);
  await admin.transaction(async (connection) => {
    await connection.query(
      `INSERT INTO ${storeFacts.name} (name, value) VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [tokenName, token],
    );
    await dropAll(connection, tables);
    for (const table of tables) {
      const name = shadowName(table.name);
      await connection.query(createTable(table, name));
      for (const index of indexesOf(table, name)) await connection.query(createIndex(index, name));
    }
  });

  return {
    apply: (changes) => asOwner((connection) => applyTo(connection, changes)),
    // The transaction sees log and tables in one state, while both go on.
    compare: (bring) =>
      asOwner(async (connection) => {
        await bring(await readHeads(connection), (changes) => applyTo(connection, changes));
        return compare(connection, tables);
      }, "REPEATABLE READ"),
    swap: (bring) =>
      asOwner(async (connection) => {
        // Every unit begins with a row of this table: from here on they wait.
        await connection.query(`LOCK TABLE ${commitCounters} IN SHARE ROW EXCLUSIVE MODE`);
        await bring(await readHeads(connection), (changes) => applyTo(connection, changes));
        await swap(connection, tables);
        // Nobody tells what this changed: all that replicas have read counts as changed.
        await connection.query(`UPDATE ${commitCounters} SET commits = commits + 1`);
        await connection.query("SELECT pg_notify($1, $2)", [commitChannel, token.toString("hex")]);
      }),
    async drop() {
      await admin.transaction(async (connection) => {
        if (await isMine(connection)) await dropAll(connection, tables);
      });
      await admin[Symbol.asyncDispose]();
    },
  };
}

async function dropAll(connection: pg.Client, tables: AnyTable[]): Promise<void> {
  for (const { name } of tables) {
    await connection.query(`DROP TABLE IF EXISTS ${quote(shadowName(name))}`);
  }
}

async function applyTo(connection: pg.Client, changes: RowChange[]): Promise<void> {
  const shapes = new Shapes(shadowName);
  const work = JSON.stringify(changes.map((change) => shapes.change(change)));
  await connection.query(`SELECT ${replayFunction}($1, $2)`, [shapes.texts, work]);
}

async function compare(connection: pg.Client, tables: AnyTable[]): Promise<Map<string, number>> {
  const differences = new Map<string, number>();
  for (const { name } of tables) {
    const [a, b] = [quote(name), quote(shadowName(name))];
    const { rows } = await connection.query<{ rows: string }>(
      `SELECT (SELECT count(*) FROM (TABLE ${a} EXCEPT TABLE ${b}) AS more) +
              (SELECT count(*) FROM (TABLE ${b} EXCEPT TABLE ${a}) AS fewer) AS rows`,
    );
    differences.set(name, Number(rows[0]?.rows));
  }
  return differences;
}

async function swap(connection: pg.Client, tables: AnyTable[]): Promise<void> {
  await lockAll(connection, tables);
  for (const table of tables) {
    const { name } = table;
    const copy = shadowName(name);
    await connection.query(`DROP TABLE ${quote(name)}`);
    await connection.query(`ALTER TABLE ${quote(copy)} RENAME TO ${quote(name)}`);
    const names = [
      [keyName(copy), keyName(name)],
      ...indexesOf(table).map((index, at) => [indexesOf(table, copy)[at]?.name, index.name]),
    ];
    for (const [from = "", to = ""] of names) {
      await connection.query(`ALTER INDEX ${quote(from)} RENAME TO ${quote(to)}`);
    }
    await connection.query(`DELETE FROM ${rowCounts.name} WHERE table_name = $1`, [name]);
    await decorate(connection, table, new Set(indexesOf(table).map((index) => index.name)));
    await record(connection, table, "projection");
  }
}

/** Readers hold one table and want another: a deadlock is ours or theirs to lose, and then everybody tries again. */
async function lockAll(connection: pg.Client, tables: AnyTable[]): Promise<void> {
  const names = tables.map(({ name }) => quote(name)).join(", ");
  for (let attempt = 1; ; attempt++) {
    await connection.query("SAVEPOINT locking");
    try {
      await connection.query(`LOCK TABLE ${names} IN ACCESS EXCLUSIVE MODE`);
      return;
    } catch (error) {
      if (!isRetryable(error) || attempt === tries) throw error;
      await connection.query("ROLLBACK TO locking");
    }
  }
}
