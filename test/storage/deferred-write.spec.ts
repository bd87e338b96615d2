// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { deferredWrite } from "../../src/storage/deferred-write.ts";

describe("a deferred write", () => {
  it("happens once for all that asked for it within the time, and again for who asks later", async () => {
    let written = 0;
    const writing = deferredWrite(async () => void (written += 1), 20);
    for (let turn = 0; turn < 3; turn++) writing.ask();
    assert.equal(written, 0);
    await pause(60);
    assert.equal(written, 1);
    writing.ask();
    await pause(60);
    assert.equal(written, 2);
    await writing[Symbol.asyncDispose]();
  });

  it("is made up for at the end, behind the one that is under way", async () => {
    const steps: string[] = [];
    let count = 0;
    const writing = deferredWrite(async () => {
      const name = `write ${(count += 1)}`;
      steps.push(`${name} begins`);
      await pause(30);
      steps.push(`${name} ends`);
    }, 1);
    writing.ask();
    await pause(15);
    writing.ask();
    await writing[Symbol.asyncDispose]();
    assert.deepEqual(steps.slice(0, 3), ["write 1 begins", "write 1 ends", "write 2 begins"]);
    assert.equal(steps.at(-1), `write ${count} ends`);
  });
});
