// Run: alone, store, long
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../../src/app/config.ts";
import { openKernel } from "../../../src/app/kernel.ts";
import { verifyProjections } from "../../../src/projection/rebuild.ts";
import { builtInData, addUser, user } from "../../../src/resources/user/index.ts";
import { silentLogger } from "../../../src/telemetry/logger.ts";
import { until } from "../../jobs/place.ts";
import { startTestApp, storeEnv, type TestApp } from "../../support/app.ts";
import { beside } from "../../support/beside.ts";

const total = 600;
const kills = 3;

async function addUsers({ kernel, made }: TestApp, organizationId: string): Promise<void> {
  const at = { instanceId: made.instance_id, editorId: "test", service: "test", clientId: "" };
  await kernel.events.transact({ ...at, requestId: "" }, async (tx) => {
    for (let nth = 0; nth < total; nth++) {
      const loaded = tx.begin(user, kernel.newId());
      const data = builtInData("human", { given_name: "Ada", family_name: String(nth) });
      const added = addUser(loaded, { ...data, organizationId, username: `user-${nth}` });
      tx.record(user, loaded, added, { type: "org", id: organizationId });
    }
  });
}

describe("removing what an organization left, by processes that are killed (F17)", () => {
  it("goes on where it was, and removes everything once", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "idsvc-leaving-"));
    try {
      const env = { IDSVC_DATA_DIR: dataDir, ...(await storeEnv(dataDir)) };
      const app = await startTestApp({ dataDir });
      const headers = { authorization: `Bearer ${app.token}`, "content-type": "application/json" };
      const base = `${app.url}/resources/v3alpha/organizations`;
      const body = JSON.stringify({ name: "Leaving" });
      const created = await fetch(base, { method: "POST", headers, body });
      const id = String(Object(await created.json()).details.id);
      await addUsers(app, id);
      const deleted = await fetch(`${base}/${id}`, { method: "DELETE", headers });
      assert.equal(deleted.status, 200);
      // The service stops at once: at most its first batches are done.
      await app[Symbol.asyncDispose]();

      await using kernel = await openKernel(
        loadConfig({
          files: [],
          flags: {},
          env: { ...env, IDSVC_EXTERNAL_URL: "http://localhost:8080" },
        }),
        { logger: silentLogger() },
      );
      const left = async () => {
        const sql = `select count(*) from users where organization_id = '${id}'`;
        return Number((await beside(kernel, sql)).rows[0]?.[0]);
      };
      let before = await left();
      assert.ok(before > 0 && before <= total, `${before} users are left by the stopped service`);
      for (let round = 0; round <= kills; round++) {
        const worker = join(import.meta.dirname, "contents-worker.ts");
        const child = spawn(process.execPath, [...process.execArgv, worker], {
          stdio: "inherit",
          env: { ...process.env, ...env, IDSVC_EXTERNAL_URL: "http://localhost:8080" },
        });
        const enough = round < kills ? before - 10 : 0;
        const isDone = async () =>
          round < kills ? (await left()) <= enough : (await removedEvents()).length > 0;
        await until(isDone, `round ${round}`);
        child.kill("SIGKILL");
        await once(child, "exit");
        before = await left();
        if (round < kills) assert.ok(before > 0, `round ${round} was killed in the middle`);
      }
      assert.equal(before, 0);
      const log = await kernel.events.read({ instanceId: app.made.instance_id });
      const removed = log.filter(({ type }) => type === "user.removed");
      assert.equal(removed.length, total);
      assert.equal(new Set(removed.map(({ aggregateId }) => aggregateId)).size, total);
      assert.equal((await removedEvents()).length, 1);
      const differing = await verifyProjections(kernel, kernel.projectionTables);
      assert.deepEqual(
        [...differing].filter(([, rows]) => rows > 0),
        [],
      );

      async function removedEvents() {
        const sql = "select sequence from events where type = 'org.contents.removed'";
        return (await beside(kernel, sql)).rows;
      }
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
