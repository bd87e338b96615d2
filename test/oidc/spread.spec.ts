// Run: shared
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { startApp } from "../../src/app/app.ts";
import { bootstrap } from "../../src/app/bootstrap.ts";
import { loadConfig } from "../../src/app/config.ts";
import { openKernel } from "../../src/app/kernel.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { storeEnv } from "../support/app.ts";

const dataDir = mkdtempSync(join(tmpdir(), "idsvc-spread-"));
const env = { IDSVC_DATA_DIR: dataDir, IDSVC_PORT: "0", ...(await storeEnv(dataDir)) };
const config = loadConfig({ files: [], flags: {}, env });
const kernel = await openKernel(config, { logger: silentLogger() });
await bootstrap(kernel);

/** How many requests have come to where those that change something wait. */
let waited = 0;
kernel.db.beforeChange = () => {
  waited += 1;
  return undefined;
};
const app = await startApp(kernel);
after(async () => {
  await app[Symbol.asyncDispose]();
  await kernel[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true });
});

describe("while a disk flushes", () => {
  for (const [method, path, waits] of [
    ["POST", "/oauth/v2/token", true],
    ["POST", "/oauth/v2/revoke", true],
    ["POST", "/oauth/v2/device_authorization", true],
    ["GET", "/oauth/v2/authorize", true],
    ["GET", "/oidc/v1/end_session", true],
    ["POST", "/oauth/v2/introspect", false],
    ["GET", "/oidc/v1/userinfo", false],
    ["GET", "/oauth/v2/keys", false],
    ["GET", "/.well-known/openid-configuration", false],
    ["POST", "/resources/v3alpha/targets", true],
    ["POST", "/resources/v3alpha/targets/_search", false],
  ] as const) {
    it(`${method} ${path} ${waits ? "waits for its place" : "waits for nothing"}`, async () => {
      const before = waited;
      const answer = await fetch(`http://localhost:${app.port}${path}`, { method });
      await answer.text();
      assert.notEqual(answer.status, 404);
      assert.equal(waited - before, waits ? 1 : 0);
    });
  }
});
