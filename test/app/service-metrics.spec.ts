// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { engine, metricsHeaders, startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app[Symbol.asyncDispose]());

const scrape = async (): Promise<string> =>
  (await fetch(`${app.url}/metrics`, { headers: metricsHeaders })).text();

/** The value of a series, whose labels are among those given; undefined where there is none. */
function valueOf(text: string, name: string, labels: Record<string, string> = {}) {
  const line = text
    .split("\n")
    .find(
      (each) =>
        each.startsWith(`${name}{`) &&
        Object.entries(labels).every(([key, value]) => each.includes(`${key}="${value}"`)),
    );
  const plain = text.split("\n").find((each) => each.startsWith(`${name} `));
  const found = Object.keys(labels).length === 0 ? (plain ?? line) : line;
  return found === undefined ? undefined : Number(found.slice(found.lastIndexOf(" ")));
}

describe("what an operator sees in the metrics", () => {
  it("requests at every door, by endpoint and status", async () => {
    const ask = (path: string, init?: RequestInit) => fetch(`${app.url}${path}`, init);
    for (let nth = 0; nth < 3; nth++) await ask("/.well-known/openid-configuration");
    const body = new URLSearchParams({ grant_type: "client_credentials", scope: "openid" });
    const authorization = `Basic ${Buffer.from("nobody:wrong").toString("base64")}`;
    assert.equal(
      (await ask("/oauth/v2/token", { method: "POST", body, headers: { authorization } })).status,
      401,
    );
    const text = await scrape();
    const of = (endpoint: string, status: string) =>
      valueOf(text, "idsvc_http_requests_total", { endpoint, status });
    assert.equal(of("/.well-known/openid-configuration", "200"), 3);
    assert.equal(of("/oauth/v2/token", "401"), 1);
    assert.equal(
      valueOf(text, "idsvc_http_duration_seconds_count", {
        endpoint: "/oauth/v2/token",
        status: "401",
      }),
      1,
    );
  });

  it("no series for a path that somebody made up", async () => {
    await fetch(`${app.url}/made/up`);
    assert.doesNotMatch(await scrape(), /made/);
  });

  it("batches that the store has committed, and units", async () => {
    const earlier = await scrape();
    const created = await fetch(`${app.url}/resources/v3alpha/projects`, {
      method: "POST",
      headers: { authorization: `Bearer ${app.token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "counted" }),
    });
    assert.equal(created.status, 201);
    const text = await scrape();
    for (const name of ["idsvc_store_batch_seconds_count", "idsvc_store_units_total"]) {
      const [less, more] = [valueOf(earlier, name), valueOf(text, name)];
      assert.ok(less !== undefined && more !== undefined && more > less, name);
    }
    assert.equal(valueOf(text, "idsvc_store_lengthy_reads_waiting"), 0);
  });

  it("streams of events that are open", async () => {
    const leaving = new AbortController();
    const opened = await fetch(`${app.url}/resources/v3alpha/events/_watch`, {
      method: "POST",
      headers: { authorization: `Bearer ${app.token}`, "content-type": "application/json" },
      signal: leaving.signal,
    });
    assert.equal(opened.status, 200);
    assert.equal(valueOf(await scrape(), "idsvc_event_followers"), 1);
    leaving.abort();
    await opened.body?.cancel().catch(() => {});
    while (valueOf(await scrape(), "idsvc_event_followers") !== 0) await delay(10);
  });

  it("the write-ahead log of SQLite, or the connections to PostgreSQL", async () => {
    const text = await scrape();
    const log = valueOf(text, "idsvc_store_log_bytes");
    const open = valueOf(text, "idsvc_store_connections", { role: "write", state: "open" });
    if (engine === "sqlite") {
      assert.ok(log !== undefined && log > 0);
      assert.equal(open, undefined);
    } else {
      assert.equal(log, undefined);
      assert.ok(open !== undefined && open > 0);
    }
  });

  it("who was refused, by kind and reason", async () => {
    const refused = await fetch(`${app.url}/oauth/v2/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        scope: "openid",
        client_id: "nobody",
        client_secret: "wrong",
      }),
    });
    assert.equal(refused.status, 401);
    const counted = valueOf(await scrape(), "idsvc_refusals_total", { kind: "client" });
    assert.ok(counted !== undefined && counted > 0);
  });

  it("how far subscriptions are behind", async () => {
    const text = await scrape();
    assert.match(text, /# TYPE idsvc_subscription_lag_events gauge/);
  });
});
