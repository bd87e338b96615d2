// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPool } from "../../src/storage/postgres/connect.ts";
import { startProxy } from "../support/postgres-proxy.ts";
import { databasePlace } from "./postgres-place.ts";

describe("a connection that is made for somebody who stops waiting", () => {
  it("is the next one's, and keeps no service from ending", async () => {
    await using place = await databasePlace();
    await using proxy = await startProxy(place.url);
    const pool = createPool(proxy.url, "read", 1);
    const only = await pool.connect();
    const waiting = pool.connect();
    proxy.cut("late", "pg_is_in_recovery");
    // It broke: another one is made for whoever waits.
    only.release(true);
    await assert.rejects(waiting, /timeout exceeded/);
    const next = pool.query("SELECT 1 AS one");
    proxy.release();
    const { rows } = await next;
    assert.deepEqual(rows, [{ one: 1 }]);
    await pool.end();
  });
});
