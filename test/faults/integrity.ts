import pg from "pg";
import type { Config } from "../../src/app/config.ts";
import { connect } from "../storage/sqlite-place.ts";

/** What the engine's own check of its file or its tables and indexes finds (rule 9 of the checker). */
export async function integrity(at: Config["databaseUrl"]): Promise<string[]> {
  if (at.kind === "postgres") return ofPostgres(at.url);
  using connection = connect(at.file);
  const found = connection.prepare("PRAGMA integrity_check").pluck().all().map(String);
  return found.filter((line) => line !== "ok").map((line) => `integrity: ${line}`);
}

// Tables that a server of a newer build, or a rebuild, makes and drops may vanish while they are read.
const tables = `SELECT c.oid::regclass::text, v.blkno, v.offnum, v.msg
  FROM pg_class c, LATERAL verify_heapam(c.oid) v
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`;
const indexes = `SELECT bt_index_check(i.indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE c.relnamespace = 'public'::regnamespace AND i.indisvalid`;

/** By the extension amcheck, which comes with the server. */
async function ofPostgres(connectionString: string): Promise<string[]> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("CREATE EXTENSION IF NOT EXISTS amcheck");
    const { rows } = await client.query<unknown[]>({ text: tables, rowMode: "array" });
    await client.query(indexes);
    return rows.map((row) => `integrity: ${row.join(" ")}`);
  } catch (error) {
    // index_corrupted, data_corrupted
    if (error instanceof pg.DatabaseError && /^XX00[12]$/.test(error.code ?? ""))
      return [`integrity: ${error.message}`];
    throw error;
  } finally {
    await client.end();
  }
}
