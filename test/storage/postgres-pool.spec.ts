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

describe("the settings of a connection", () => {
  const names = [
    "default_transaction_isolation",
    "tcp_user_timeout",
    "statement_timeout",
    "max_parallel_workers_per_gather",
    "application_name",
    "work_mem",
  ];
  async function settingsBy(url: string): Promise<Record<string, string>> {
    const pool = createPool(url, "lengthy", 1);
    try {
      const { rows } = await pool.query<{ name: string; setting: string }>(
        "SELECT name, setting FROM pg_settings WHERE name = ANY($1)",
        [names],
      );
      return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
    } finally {
      await pool.end();
    }
  }

  it("let a query of the service take one core of the server", async () => {
    await using place = await databasePlace();
    const found = await settingsBy(place.url);
    assert.equal(found["max_parallel_workers_per_gather"], "0");
    assert.equal(found["default_transaction_isolation"], "read committed");
  });

  it("are completed by the options of the URL, which come last", async () => {
    await using place = await databasePlace();
    const found = await settingsBy(place.url);
    const options = "-c work_mem=12345 -c max_parallel_workers_per_gather=3";
    const url = new URL(place.url);
    url.searchParams.set("options", options);
    const expected = { ...found, work_mem: "12345", max_parallel_workers_per_gather: "3" };
    assert.deepEqual(await settingsBy(url.href), expected);
    const inPercent = url.href.replaceAll("+", "%20");
    assert.notEqual(inPercent, url.href);
    assert.deepEqual(await settingsBy(inPercent), expected);
  });
});
