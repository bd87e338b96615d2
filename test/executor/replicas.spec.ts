// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bodyOf, uniqueName } from "../support/peer.ts";
import { storeOfMany } from "../support/processes.ts";
import { connectPeer } from "../support/protocols.ts";
import { startExecutorPeer, until } from "./executor-peer.ts";

describe("executions in two processes that serve one store (H5)", () => {
  it("tell a target of each event once, whichever process wrote it, in order per object", async () => {
    await using store = await storeOfMany();
    await using first = await startExecutorPeer(store.first());
    await using second = await store.start();
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
