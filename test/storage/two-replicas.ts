import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { openPostgres } from "../../src/storage/postgres/driver.ts";
import { schema } from "./place.ts";
import { databasePlace } from "./postgres-place.ts";

/** Two processes on one database, as far as a store can tell. */
export async function twoReplicas() {
  const place = await databasePlace();
  const open = async () => {
    const db = await openPostgres({ url: place.url, schema });
    await db.migrate();
    return db;
  };
  const [one, two] = await Promise.all([open(), open()]);
  return {
    place,
    one,
    two,
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]();
      await two[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

type DatabasePlace = Awaited<ReturnType<typeof databasePlace>>;

/** States of backends, as `pg_stat_activity` tells them. */
export const [asleep, locked] = ["wait_event = 'PgSleep'", "wait_event_type = 'Lock'"];

/** Has a session of the database hold what a statement locks, until it is disposed of, which undoes the statement. */
export async function holding(place: DatabasePlace, statement: string): Promise<AsyncDisposable> {
  const held = place.query(`BEGIN; ${statement}; SELECT pg_sleep(600); COMMIT`);
  const cancelled = assert.rejects(held, { code: "57014" });
  await backendIn(place, asleep);
  return {
    async [Symbol.asyncDispose]() {
      await place.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND ${asleep}`,
      );
      await cancelled;
    },
  };
}

/** Waits until so many backends of the database are in a state, or what they wait for is over, where it gives false. */
export async function backendIn(
  { query }: DatabasePlace,
  state: string,
  { backends = 1, isOver = () => false }: { backends?: number; isOver?: () => boolean } = {},
): Promise<boolean> {
  const count = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND ${state}`;
  const isThere = async () => ((await query(count)).rows[0] as { n: number }).n >= backends;
  for (const end = Date.now() + 60_000; !(await isThere()); await delay(5)) {
    if (isOver()) return false;
    assert.ok(Date.now() < end, `no backend came to ${state}`);
  }
  return true;
}
