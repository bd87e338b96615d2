import Sqlite from "better-sqlite3";
import pg from "pg";
import type { Kernel } from "../../src/app/kernel.ts";

export type Answer = { rows: unknown[][]; changes: number };

/** Runs a statement beside the service, as a person with access to the database could. */
export async function beside({ config }: Kernel, statement: string): Promise<Answer> {
  const at = config.databaseUrl;
  if (at.kind === "sqlite") {
    const connection = new Sqlite(at.file);
    try {
      const prepared = connection.prepare(statement);
      if (!prepared.reader) return { rows: [], changes: prepared.run().changes };
      // Row objects are made by generating code, which the process forbids.
      const rows = prepared.raw().all().filter(Array.isArray);
      return { rows, changes: 0 };
    } finally {
      connection.close();
    }
  }
  const client = new pg.Client({ connectionString: at.url });
  await client.connect();
  try {
    const { rows, rowCount } = await client.query<unknown[]>({ text: statement, rowMode: "array" });
    return { rows, changes: rowCount ?? 0 };
  } finally {
    await client.end();
  }
}
