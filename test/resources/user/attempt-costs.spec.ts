// Run: alone, costly
import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";
import { after, it } from "node:test";
import type { Worker } from "node:worker_threads";
import { goodPassword, startUserPeer } from "./user-peer.ts";

/** The threads that hash passwords, all of them: they are seen when they start, so the process is this spec's own. */
const hashing: Worker[] = [];
subscribe("worker_threads", (message) => {
  const { worker } = message as { worker: Worker };
  if (worker.threadName === "password-worker") hashing.push(worker);
});

const service = await startUserPeer();
const { checks, at, addPerson } = service;
after(() => service[Symbol.asyncDispose]());

/** The processor time that the hashing of passwords has taken so far, in milliseconds. */
async function hashingMs(): Promise<number> {
  const usages = await Promise.all(hashing.map((worker) => worker.cpuUsage()));
  return usages.reduce((sum, { user, system }) => sum + user + system, 0) / 1_000;
}

it("wrong attempts hash as much for nobody as for somebody (D49)", async () => {
  const password = { password: goodPassword };
  const somebody = await addPerson({ authenticators: { password } });
  assert.notEqual(hashing.length, 0);
  const least = { nobody: Infinity, somebody: Infinity };
  const measure = async (who: keyof typeof least, id: string | undefined) => {
    const before = await hashingMs();
    assert.deepEqual(await checks.password(at, id, "wrong"), { isRight: false });
    least[who] = Math.min(least[who], (await hashingMs()) - before);
  };
  // In turns, and the least of nine or more: what slows the machine down adds to either, and takes from none.
  const ratio = () => least.nobody / least.somebody;
  const isEven = () => ratio() > 0.8 && ratio() < 1.25;
  for (let turn = 0; turn < 9 || (turn < 90 && !isEven()); turn++) {
    await measure("nobody", undefined);
    await measure("somebody", somebody);
  }
  assert.ok(isEven(), JSON.stringify(least));
});
