// Run: alone, long
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { residentMiB } from "../bench/process.ts";
import { startServer } from "../faults/server.ts";
import { openArena } from "../faults/store.ts";

const giveUpMs = 60_000;
const leastMiB = 12;

describe("a service that nobody calls", () => {
  it("gives the system back what its start took (decision 0382)", async () => {
    await using arena = await openArena("sqlite");
    await using store = await arena.newStore();
    await using server = await startServer(store.place);
    await using stack = new AsyncDisposableStack();
    stack.defer(() => server.kill());
    const than = residentMiB(server.pid) - leastMiB;
    const end = performance.now() + giveUpMs;
    while (residentMiB(server.pid) > than) {
      assert.ok(performance.now() < end, `${residentMiB(server.pid)} MiB, not ${than}`);
      await delay(500);
    }
  });
});
