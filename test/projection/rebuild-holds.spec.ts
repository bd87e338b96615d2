// Run: shared, store
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { rebuildProjections, verifyProjections } from "../../src/projection/rebuild.ts";
import { targets } from "../../src/resources/action/target/target.ts";
import { engine } from "../support/app.ts";
import { startPeer } from "../support/peer.ts";
import { measureHolds } from "../support/loop-holds.ts";

const peer = await startPeer();
after(() => peer[Symbol.asyncDispose]());
const { kernel, made } = peer.app;

// On PostgreSQL rows take three times as long, and the event loop is held by as many of them at a time.
const [units, inUnit] = [engine === "sqlite" ? 24 : 8, 500];
const mostMs = 50;
const rounds = 3;

async function addTargets(): Promise<void> {
  const at = { instanceId: made.instance_id, editorId: "bulk", service: "", clientId: "" };
  const owner = { type: "instance" as const, id: made.instance_id };
  for (let unit = 0; unit < units; unit++) {
    await kernel.events.transact({ ...at, requestId: "" }, async (tx) => {
      for (let nth = 0; nth < inUnit; nth++) {
        const loaded = await tx.load(targets.aggregate, kernel.newId());
        const added = targets.add(loaded.state, {
          kind: "rest_webhook",
          url: "https://hooks.example.com/",
          isAsync: false,
          interruptOnError: true,
          payloadSecrets: false,
          timeoutMs: 10_000,
          name: `bulk ${unit}/${nth}`,
        });
        tx.record(targets.aggregate, loaded, added, owner);
      }
    });
  }
}

describe("a rebuild of many events while the service answers", () => {
  it("holds the event loop for less than 50 ms of the processor at a time, and all is the same after it", async () => {
    await addTargets();
    // The first time code is compiled.
    await rebuildProjections(kernel, kernel.projectionTables);
    // A rebuild holds as long each time; the collector, which cleans up after every spec of the process, does not.
    const longestMs: number[] = [];
    while (longestMs.length < rounds && !longestMs.some((ms) => ms < mostMs)) {
      using holds = measureHolds();
      await rebuildProjections(kernel, kernel.projectionTables);
      longestMs.push(holds.longestMs());
    }
    assert.ok(Math.min(...longestMs) < mostMs, `${longestMs.join(", ")} ms`);
    const found = await verifyProjections(kernel, kernel.projectionTables);
    assert.deepEqual(
      [...found].filter(([, rows]) => rows > 0),
      [],
    );
  });
});
