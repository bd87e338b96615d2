// Run: shared, costly
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { processorMs } from "../../support/processor-time.ts";
import { goodPassword, startUserPeer } from "./user-peer.ts";

const service = await startUserPeer();
const { checks, at, addPerson } = service;
after(() => service[Symbol.asyncDispose]());

it("wrong attempts cost the same for nobody as for somebody (D49)", async () => {
  const password = { password: goodPassword };
  const somebody = await addPerson({ authenticators: { password } });
  const least = { nobody: Infinity, somebody: Infinity };
  const measure = async (who: keyof typeof least, id: string | undefined) => {
    const before = processorMs();
    assert.deepEqual(await checks.password(at, id, "wrong"), { isRight: false });
    least[who] = Math.min(least[who], processorMs() - before);
  };
  // The threads that hash are of this process. In turns, and the least of nine: what else it does falls on both alike.
  for (let turn = 0; turn < 9; turn++) {
    await measure("nobody", undefined);
    await measure("somebody", somebody);
  }
  const ratio = least.nobody / least.somebody;
  assert.ok(ratio > 0.8 && ratio < 1.25, JSON.stringify(least));
});
