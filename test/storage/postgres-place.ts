import { openPostgres } from "../../src/storage/postgres/driver.ts";
import type { Schema } from "../../src/storage/schema.ts";
import { databaseOf, freshDatabase, type TestDatabase } from "../support/postgres.ts";
import type { Place } from "./place.ts";

export type DatabasePlace = Place & { url: string; query: TestDatabase["execute"] };

/**
 * A database of its own on the PostgreSQL server of the tests.
 *
 * @param made has the tables of this schema, as to make them takes longer than most of what is tried with them
 */
export async function databasePlace(made?: Schema): Promise<DatabasePlace> {
  const database = await (made === undefined ? freshDatabase() : databaseOf(made));
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
