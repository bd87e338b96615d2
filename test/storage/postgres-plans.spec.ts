// Run: alone, early
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import pg from "pg";
import { appendFunction } from "../../src/storage/postgres/append-function.ts";
import { encodeBatch } from "../../src/storage/postgres/batch.ts";
import { happened, schema, unit } from "./place.ts";
import { databasePlace } from "./postgres-place.ts";

const objects = 300;
// PostgreSQL keeps the plan of a statement after five that were made for their values.
const untilPlansAreKept = 8;

describe("an append to a store of which PostgreSQL has no statistics yet", () => {
  it("reads what happened to its own object, and nothing of the others", async () => {
    await using place = await databasePlace();
    await using db = await place.open(schema);
    await db.migrate();
    await place.execute("ALTER TABLE events SET (autovacuum_enabled = off)");
    const client = new pg.Client({ connectionString: place.url });
    await client.connect();
    const append = async (name: string, version: bigint) => {
      const next = unit({
        expect: [{ kind: "stream", aggregateType: "note", aggregateId: name, version }],
        events: [happened(name, version + 1n)],
      });
      const { shapes, work } = encodeBatch([{ instanceId: "one", units: [next] }]);
      const call = `SELECT ${appendFunction}($1, $2, $3, NULL)`;
      await client.query(call, [randomUUID(), shapes, work]);
    };
    const read = async () => {
      const { rows } = await client.query<{ read: string }>(
        "SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_xact_user_tables WHERE relname = 'events'",
      );
      return Number(rows[0]?.read);
    };
    try {
      for (let nth = 0; nth < untilPlansAreKept; nth++) await append("first", BigInt(nth));
      const names = Array.from({ length: objects }, (_, at) => `n${at}`);
      await db.commit(unit({ events: names.map((name) => happened(name, 1n)) }));

      await client.query("BEGIN");
      const before = await read();
      await append("n7", 1n);
      assert.equal((await read()) - before, 1);
    } finally {
      await client.end();
    }
  });
});
