// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { databaseOf, type TestDatabase } from "../support/postgres.ts";
import { schema } from "./place.ts";

const connected = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString, application_name: "somebody" });
  client.on("error", () => {});
  await client.connect();
  return client;
};
const read = async (client: pg.Client, text: string): Promise<unknown[]> =>
  (await client.query({ text, rowMode: "array" })).rows;

const rowsOf = async (client: pg.Client): Promise<unknown> => {
  const tables = await read(client, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const counts = tables
    .flat()
    .map((table) => `SELECT '${String(table)}' AS name, count(*) AS n FROM ${String(table)}`);
  return read(client, `${counts.join(" UNION ALL ")} ORDER BY name`);
};

const listed = "SELECT pg_listening_channels()";
const prepared = "SELECT name FROM pg_prepared_statements";
const locked = "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()";
const backend = "SELECT pg_backend_pid()";

/** What a database is, with how many rows each table has, and the process that serves a client. */
async function seen(database: TestDatabase) {
  const client = await connected(database.url);
  const rows = await rowsOf(client);
  const process = await read(client, backend);
  return { client, rows, process };
}

describe("a database of tests that somebody had before", () => {
  it("has the rows of a new one, and connections that know nothing of whoever had them", async () => {
    const before = await databaseOf(schema);
    const { client, rows, process } = await seen(before);
    await client.query(
      "SET statement_timeout = 1234; LISTEN somebody; CREATE TEMP TABLE mine (n int)",
    );
    await client.query("SELECT pg_advisory_lock(7)");
    await client.query({ name: "somebody", text: "SELECT 1" });
    await client.query("INSERT INTO commit_counters (instance_id, commits) VALUES ('1', 5)");
    await client.end();
    await before[Symbol.asyncDispose]();

    await using after = await databaseOf(schema);
    assert.equal(after.url, before.url);
    const again = await seen(after);
    assert.deepEqual([again.rows, again.process], [rows, process]);
    assert.deepEqual(await read(again.client, "SHOW statement_timeout"), [["0"]]);
    for (const text of [listed, prepared, locked]) {
      assert.deepEqual(await read(again.client, text), [], text);
    }
    await assert.rejects(again.client.query("SELECT FROM mine"), { code: "42P01" });
    await again.client.end();
  });

  const changes = [
    "ALTER TABLE commit_counters ADD COLUMN more int",
    "ALTER TABLE events DISABLE TRIGGER ALL",
    "CREATE INDEX more ON commit_counters (commits)",
    "CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'",
  ];
  for (const change of changes) {
    it(`is nobody’s any more after ${change}`, async () => {
      const before = await databaseOf(schema);
      await before.execute(change);
      await before[Symbol.asyncDispose]();
      await using after = await databaseOf(schema);
      assert.notEqual(after.url, before.url);
    });
  }

  it("is nobody’s any more while somebody is connected", async () => {
    const before = await databaseOf(schema);
    const left = await connected(before.url);
    await before[Symbol.asyncDispose]();
    await using after = await databaseOf(schema);
    assert.notEqual(after.url, before.url);
    await left.end();
  });

  it("has connections that nobody else ends, though their client ends twice", async () => {
    await using database = await databaseOf(schema);
    const { client, process } = await seen(database);
    await Promise.all([client.end(), client.end()]);
    const again = await connected(database.url);
    assert.deepEqual(await read(again, backend), process);
    await again.end();
  });

  it("has no connection that was left in a transaction", async () => {
    const before = await databaseOf(schema);
    const { client, process } = await seen(before);
    await client.query("BEGIN");
    await client.end();
    await before[Symbol.asyncDispose]();
    await using after = await databaseOf(schema);
    const { client: again, process: other } = await seen(after);
    assert.notDeepEqual(other, process);
    await again.end();
  });
});
