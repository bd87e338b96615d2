// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { addUser, builtInData, user } from "../../src/resources/user/index.ts";
import { measureHolds } from "../support/loop-holds.ts";
import { startPeer } from "../support/peer.ts";

const peer = await startPeer();
after(() => peer[Symbol.asyncDispose]());
const { kernel, made, port, token } = peer.app;

const users = 6_000;
const mostMs = 50;
const rounds = 3;

async function addUsers(): Promise<void> {
  const at = { instanceId: made.instance_id, editorId: "bulk", service: "", clientId: "" };
  const { organization_id: organizationId } = made;
  await kernel.events.transact({ ...at, requestId: "" }, async (tx) => {
    for (let nth = 0; nth < users; nth++) {
      const loaded = tx.begin(user, kernel.newId());
      const data = builtInData("human", { given_name: "Ada", family_name: `Number ${nth}` });
      const added = addUser(loaded, { ...data, organizationId, username: `bulk-${nth}` });
      tx.record(user, loaded, added, { type: "org", id: organizationId });
    }
  });
}

async function lengthOfExport(): Promise<number> {
  const answer = await fetch(`http://localhost:${port}/management/v1/export`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  assert.equal(answer.status, 200);
  return (await answer.arrayBuffer()).byteLength;
}

describe("an export of many users while the service answers", () => {
  it("holds the event loop for less than 50 ms of the processor at a time, though its client takes all at once (Q1)", async () => {
    await addUsers();
    // The first time code is compiled.
    assert.ok((await lengthOfExport()) > users * 100);
    const longestMs: number[] = [];
    while (longestMs.length < rounds && !longestMs.some((ms) => ms < mostMs)) {
      using holds = measureHolds();
      await lengthOfExport();
      longestMs.push(holds.longestMs());
    }
    assert.ok(Math.min(...longestMs) < mostMs, `${longestMs.join(", ")} ms`);
  });
});
