import { existsSync, readFileSync } from "node:fs";
import pg from "pg";
import type { Config } from "../../src/app/config.ts";

/**
 * Everything a store holds, as bytes: on SQLite its files, the write-ahead log with them; on PostgreSQL all rows of all
 * tables, as a dump would have them.
 */
export async function rawStore({ databaseUrl: at }: Pick<Config, "databaseUrl">): Promise<Buffer> {
  if (at.kind === "sqlite") {
    const files = ["", "-wal", "-shm"].map((suffix) => `${at.file}${suffix}`);
    return Buffer.concat(
      files.filter((file) => existsSync(file)).map((file) => readFileSync(file)),
    );
  }
  const client = new pg.Client({ connectionString: at.url });
  await client.connect();
  try {
    const tables = await client.query<[string]>({
      text: "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
      rowMode: "array",
    });
    const parts: string[] = [];
    for (const [table] of tables.rows) {
      const text = `SELECT t::text FROM "${table}" t`;
      const { rows } = await client.query<[string]>({ text, rowMode: "array" });
      parts.push(table, ...rows.flat());
    }
    return Buffer.from(parts.join("\n"));
  } finally {
    await client.end();
  }
}

/** Which of the values can be found in the bytes: as they are, folded, in hexadecimal or in base64. */
export function found(bytes: Buffer, values: Iterable<string>): string[] {
  const text = bytes.toString("latin1");
  return [...values].filter((value) => formsOf(value).some((form) => text.includes(form)));
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  // What stands within a longer text begins at any of three places of a group of base64; its ends depend on neighbours.
  const inBase64 = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64url");
    return whole.slice(before === 0 ? 0 : before + 1, -3);
  });
  const latin = bytes.toString("latin1");
  return [
    latin,
    latin.toLowerCase(),
    latin.toUpperCase(),
    bytes.toString("hex"),
    ...inBase64.flatMap((each) => [each, each.replaceAll("-", "+").replaceAll("_", "/")]),
  ];
}
