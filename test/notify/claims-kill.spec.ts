// Run: alone, long
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../src/app/config.ts";
import { openKernel } from "../../src/app/kernel.ts";
import { verifyProjections } from "../../src/projection/rebuild.ts";
import { addUser, builtInData, user } from "../../src/resources/user/index.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { until } from "../jobs/place.ts";
import { startTestApp, storeEnv, type TestApp } from "../support/app.ts";
import { beside } from "../support/beside.ts";

const total = 800;
const kills = 2;
// An organization of this name has this domain by its making, which is a proof.
const [name, domain] = ["Acme", "acme.localhost"];
const type = "user.domain.claimed";

async function addUsers({ kernel, made }: TestApp): Promise<void> {
  const at = { instanceId: made.instance_id, editorId: "test", service: "test", clientId: "" };
  const organizationId = made.organization_id;
  await kernel.events.transact({ ...at, requestId: "" }, async (tx) => {
    for (let nth = 0; nth < total; nth++) {
      const loaded = tx.begin(user, kernel.newId());
      const data = builtInData("human", { given_name: "Ada", family_name: String(nth) });
      const added = addUser(loaded, { ...data, organizationId, username: `${nth}@${domain}` });
      tx.record(user, loaded, added, { type: "org", id: organizationId });
    }
  });
}

describe("telling of a claimed domain, by processes that are killed, two at a time (F17)", () => {
  it("goes on where it was, and tells everybody once", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "idsvc-claims-"));
    try {
      const env = { IDSVC_DATA_DIR: dataDir, ...(await storeEnv(dataDir)) };
      const app = await startTestApp({ dataDir });
      await addUsers(app);
      const headers = { authorization: `Bearer ${app.token}`, "content-type": "application/json" };
      const body = JSON.stringify({ name });
      const base = `${app.url}/resources/v3alpha/organizations`;
      const created = await fetch(base, { method: "POST", headers, body });
      assert.equal(created.status, 201);
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
      const numberOf = async (sql: string) => Number((await beside(kernel, sql)).rows[0]?.[0]);
      const told = () => numberOf(`select count(*) from events where type = '${type}'`);
      const due = () => numberOf("select count(*) from jobs where kind = 'domain.claimed'");
      let before = await told();
      assert.ok(before < total, `${before} users were told by the stopped service`);
      for (let round = 0; round <= kills; round++) {
        const worker = join(import.meta.dirname, "../resources/org/contents-worker.ts");
        const workers = ["one", "other"].map(() =>
          spawn(process.execPath, [...process.execArgv, worker], {
            stdio: "inherit",
            env: { ...process.env, ...env, IDSVC_EXTERNAL_URL: "http://localhost:8080" },
          }),
        );
        const isDone = async () => (round < kills ? (await told()) > before : (await due()) === 0);
        await until(isDone, `round ${round}`);
        for (const each of workers) {
          each.kill("SIGKILL");
          await once(each, "exit");
        }
        before = await told();
        if (round < kills) assert.ok(before < total, `round ${round} was killed in the middle`);
      }
      const log = await kernel.events.read({ instanceId: app.made.instance_id, types: [type] });
      assert.equal(log.length, total);
      assert.equal(new Set(log.map(({ aggregateId }) => aggregateId)).size, total);
      // Every message is a job of the unit of its event; those that the first service took are done.
      assert.ok((await numberOf("select count(*) from jobs where kind = 'notice'")) <= total);
      const differing = await verifyProjections(kernel, kernel.projectionTables);
      assert.deepEqual(
        [...differing].filter(([, rows]) => rows > 0),
        [],
      );
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
