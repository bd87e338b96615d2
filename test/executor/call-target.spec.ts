// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCallTarget } from "../../src/executor/call-target.ts";
import { createCircuits } from "../../src/executor/circuit.ts";
import { createSemaphores } from "../../src/executor/semaphores.ts";

const target = {
  id: "t1",
  url: "http://a.test/",
  kind: "rest_webhook" as const,
  timeoutMs: 1_000,
  isAsync: false,
  interruptOnError: false,
  payloadSecrets: false,
};

/** What comes of so many calls, one after the other, of a target that always answers with a status. */
async function outcomesOf(status: number, calls: number): Promise<string[]> {
  const call = async () => ({ status, headers: {}, body: new Uint8Array() });
  const callTarget = createCallTarget({
    outside: { call },
    circuits: createCircuits({ now: () => 0, random: () => 0 }),
    semaphores: createSemaphores(),
    signingKey: () => undefined,
    now: () => new Date(),
  });
  const outcomes: string[] = [];
  for (let nth = 0; nth < calls; nth++) {
    const outcome = await callTarget({
      instanceId: "1",
      target,
      deliveryId: String(nth),
      depth: 0,
      body: "{}",
      wantsAnswer: false,
      signal: undefined,
    });
    outcomes.push(outcome.ok ? "ok" : outcome.failure);
  }
  return outcomes;
}

describe("calling a target again and again", () => {
  for (const status of [429, 500, 503]) {
    it(`spares one that answers ${status}: it has too much to do, or is down`, async () => {
      const outcomes = await outcomesOf(status, 11);
      assert.deepEqual(outcomes, [...Array.from({ length: 10 }, () => "status"), "circuit"]);
    });
  }
  for (const status of [400, 404]) {
    it(`goes on with one that answers ${status}: it is there, and refuses`, async () => {
      const outcomes = await outcomesOf(status, 12);
      assert.deepEqual(new Set(outcomes), new Set(["status"]));
    });
  }
});
