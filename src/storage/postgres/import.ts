import type pg from "pg";
import { failedPrecondition } from "../../errors.ts";
import type { Database } from "../database.ts";
import { storeFacts, storeTables } from "../kernel-tables.ts";
import { allTables, type Schema } from "../schema.ts";
import { type Checksum, checksumOf, readRows, summing } from "../rows.ts";
import type { AnyTable } from "../table.ts";
import { replayFunction } from "./append-function.ts";
import { Shapes } from "./batch.ts";
import { administrator, checkServer } from "./connect.ts";
import { quote } from "./ddl.ts";
import { migrateWithin, tablesOf, tellingRights } from "./migrate.ts";
import { createReader } from "./reader.ts";

export type Import = {
  url: string;
  schema: Schema;
  source: Pick<Database, "read" | "table">;
  /** Told after every page how many rows of a table are there. */
  onProgress: (table: string, rows: number) => void;
};

/**
 * Fills an empty database with all rows of another store, and proves that they are equal. All of it is one transaction:
 * whatever cuts it short leaves the database as empty as it was, and nobody sees a part of it.
 *
 * What a store tells of itself (its tables, its facts) is not taken over, but made for this one.
 * @throws FAILED_PRECONDITION TARGET_NOT_EMPTY, IMPORT_DIFFERS, and what `checkServer` throws
 */
export async function importStore(parts: Import): Promise<Map<string, Checksum>> {
  const { schema, source } = parts;
  await checkServer(parts.url);
  await using admin = administrator(parts.url);
  const imported = admin.transaction(async (connection) => {
    await migrateWithin(connection, schema, refuseTables);
    const read = createReader(connection);
    const sums = new Map<string, Checksum>();
    for (const { table } of allTables(schema)) {
      if (table === storeTables || table === storeFacts) continue;
      // Counters are rows like others, and need not be counted anew.
      await connection.query(`ALTER TABLE ${quote(table.name)} DISABLE TRIGGER USER`);
      const given = await copy(connection, table);
      await connection.query(`ALTER TABLE ${quote(table.name)} ENABLE TRIGGER USER`);
      await connection.query(`ANALYZE ${quote(table.name)}`);
      const copied = await checksumOf(read, table, table.postgres);
      if (copied.rows !== given.rows || copied.sha256 !== given.sha256) throw differs(table.name);
      sums.set(table.name, copied);
    }
    return sums;
  });
  return await tellingRights(imported);

  async function copy(client: pg.Client, table: AnyTable): Promise<Checksum> {
    const sum = summing(table);
    let rows = 0;
    for await (const page of readRows(source.read, table, source.table(table))) {
      sum.add(page);
      const shapes = new Shapes();
      const changes = page.map((values) => shapes.change({ op: "insert", table, values }));
      const work = JSON.stringify(changes);
      await client.query(`SELECT ${replayFunction}($1, $2)`, [shapes.texts, work]);
      parts.onProgress(table.name, (rows += page.length));
    }
    return sum.result();
  }
}

async function refuseTables(connection: pg.Client): Promise<void> {
  const present = await tablesOf(connection);
  if (present.size === 0) return;
  const what = present.has(storeTables.name)
    ? "holds a store of idsvc already, perhaps by an earlier promotion"
    : "holds tables of something else";
  throw failedPrecondition(
    "TARGET_NOT_EMPTY",
    `the database ${what}: nothing was changed, name an empty one`,
  );
}

const differs = (table: string) =>
  failedPrecondition(
    "IMPORT_DIFFERS",
    `the rows of ${table} are not the same in the database: nothing was kept of them`,
  );
