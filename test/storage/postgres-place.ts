import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { freshDatabase, type TestDatabase } from "../support/postgres.ts";
import type { Place } from "./place.ts";

export type DatabasePlace = Place & { url: string; query: TestDatabase["execute"] };

/** A database of its own on the PostgreSQL server of the tests. */
export async function databasePlace(): Promise<DatabasePlace> {
  const database = await freshDatabase();
  const { url } = database;
  return {
    url,
    query: database.execute,
    replaceEvent: `INSERT INTO events SELECT * FROM events ON CONFLICT (instance_id, sequence)
      DO UPDATE SET type = 'note.removed'`,
    open: (schema) => openPostgres({ url, schema }),
    async execute(statement) {
      await database.execute(statement);
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
