// Run: shared
import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { schema } from "./place.ts";
import { databasePlace } from "./postgres-place.ts";

it("a replica that is closed leaves no connection, though it was about to ask what others have done", async () => {
  await using place = await databasePlace();
  const db = await openPostgres({ url: place.url, schema });
  await db.migrate();
  const ask = async () => db.catchUp();
  // One of them asks, the others wait for it, and begin when the store is closed.
  const asking = Promise.allSettled([ask(), ask(), ask()]);
  await Promise.all([asking, db[Symbol.asyncDispose]()]);
  await assert.rejects(ask, { reason: "STORE_UNAVAILABLE" });
  const open = async (): Promise<unknown> => {
    const { rows } = await place.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'idsvc %'`,
    );
    return (rows[0] as { n: number }).n;
  };
  // The server takes a moment to see that a connection has ended.
  for (let tries = 0; tries < 200 && (await open()) !== 0; tries++) await delay(10);
  assert.equal(await open(), 0);
});
