// Run: shared, store
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { startApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/app/config.ts";
import { openKernel } from "../../src/app/kernel.ts";
import { silentLogger } from "../../src/telemetry/logger.ts";
import { engine, storeEnv } from "../support/app.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { connectPeer } from "../support/protocols.ts";
import { startExecutorPeer, until } from "./executor-peer.ts";

describe("executions on two replicas (H5)", { skip: engine === "sqlite" }, () => {
  it("tell a target of each event once, whichever replica wrote it, in order per object", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "idsvc-executor-replicas-"));
    after(() => rmSync(dataDir, { recursive: true, force: true }));
    await using first = await startExecutorPeer({ dataDir });
    const env = {
      IDSVC_DATA_DIR: dataDir,
      IDSVC_PORT: "0",
      IDSVC_EXTERNAL_URL: "http://localhost:8080",
      ...(await storeEnv(dataDir)),
    };
    const config = loadConfig({ files: [], flags: {}, env });
    await using kernel = await openKernel(config, { logger: silentLogger() });
    await using second = await startApp(kernel);
    using other = connectPeer(second.port);

    const { token } = first.app;
    const target = await first.webhook({}, "/both");
    await first.set({ event: { group: "org" } }, [target.id]);
    const sequences: string[] = [];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const added = await first.post("/organizations", { name: uniqueName() });
        const { details } = bodyOf(added, 201);
        sequences.push(details.sequence);
        for (let n = 0; n < 6; n++) {
          const peer = n % 2 === 0 ? other : first.peer;
          const path = `/resources/v3alpha/organizations/${details.id}`;
          const answer = await peer.rest("PATCH", path, { name: uniqueName("renamed") }, { token });
          sequences.push(bodyOf(answer).details.sequence);
        }
      }),
    );
    const heard = () => first.receiver.at("/both").map(({ json }) => String(json.sequence));
    await until("every event", () => new Set(heard()).isSupersetOf(new Set(sequences)));
    const { result } = bodyOf(
      await first.post("/deliveries/_search?query.limit=1000", [{ target: { id: target.id } }]),
    );
    const told = heard();
    assert.equal(new Set(told).size, told.length, "no event twice");
    assert.equal(result.length, told.length, "no delivery twice");
    for (const calls of Map.groupBy(
      first.receiver.calls,
      ({ json }) => json.aggregateID,
    ).values()) {
      const order = calls.map(({ json }) => Number(json.sequence));
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
      );
    }
  });
});
