// Run: shared
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { metricsHeaders, startTestApp, type TestApp } from "../support/app.ts";

let app: TestApp;
before(async () => {
  app = await startTestApp({ env: { IDSVC_METRICS_PORT: "0" } });
});
after(() => app[Symbol.asyncDispose]());

const ofTenants = /idsvc_/;
const get = (port: number | undefined, headers: Record<string, string> = {}, path = "/metrics") =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers });

describe("D88: what the metrics tell (J13)", () => {
  it("everybody: of the process, and nothing of tenants", async () => {
    const answer = await get(app.port);
    assert.equal(answer.status, 200);
    const text = await answer.text();
    assert.match(text, /process_cpu_seconds_total/);
    assert.doesNotMatch(text, ofTenants);
  });
  it("who has the token: everything", async () => {
    for (const port of [app.port, app.app.metricsPort]) {
      const text = await (await get(port, metricsHeaders)).text();
      assert.match(text, /process_cpu_seconds_total/);
      assert.match(text, ofTenants);
    }
  });
  it("who has another one, or none where the port is its own: nothing", async () => {
    const wrong = [{ authorization: "Bearer x" }, { authorization: "Basic eDp5" }];
    const tries = [
      ...wrong.map((headers) => get(app.port, headers)),
      ...[{}, ...wrong].map((headers) => get(app.app.metricsPort, headers)),
    ];
    for (const answer of await Promise.all(tries)) {
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get("www-authenticate"), "Bearer");
      assert.doesNotMatch(await answer.text(), /process_cpu|idsvc_/);
    }
  });
  it("a port of its own serves nothing else, and without a token everything to whoever reaches it", async () => {
    await using open = await startTestApp({
      env: { IDSVC_METRICS_PORT: "0" },
      withoutMetricsToken: true,
    });
    const { metricsPort } = open.app;
    assert.match(await (await get(metricsPort)).text(), ofTenants);
    assert.doesNotMatch(await (await get(open.port)).text(), ofTenants);
    assert.equal((await get(metricsPort, {}, "/openapi.json")).status, 404);
  });
});
