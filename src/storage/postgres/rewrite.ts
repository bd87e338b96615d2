import { allTables, type Schema } from "../schema.ts";
import { connect } from "./connect.ts";
import { quote } from "./ddl.ts";
import { storeError } from "./errors.ts";

/** Writes each table into new files, without what was deleted. A table is closed to all others while it is written. */
export async function rewriteTables(url: string, schema: Schema): Promise<void> {
  const client = await connect(url, "admin");
  try {
    for (const { table } of allTables(schema)) {
      await client.query(`VACUUM FULL ${quote(table.name)}`);
    }
  } catch (error) {
    throw storeError(error);
  } finally {
    await client.end();
  }
}
