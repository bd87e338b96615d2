// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createKeyedMutex } from "../../src/eventstore/keyed-mutex.ts";

describe("a keyed mutex", () => {
  it("has one holder at a time for each key, in the order of asking, and refuses whoever is too many", async () => {
    const lock = createKeyedMutex({ most: 3 });
    const seen: string[] = [];
    const work = async (name: string): Promise<string> => {
      const release = await lock("key");
      if (release === undefined) return "refused";
      seen.push(`${name} begins`);
      await turn();
      seen.push(`${name} ends`);
      release();
      return name;
    };
    const all = ["a", "b", "c", "too many"].map(work);
    assert.deepEqual(await Promise.all(all), ["a", "b", "c", "refused"]);
    assert.deepEqual(
      seen,
      ["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
    assert.equal(await work("again"), "again");
  });

  it("holds up nobody who asks for another key", async () => {
    const lock = createKeyedMutex({ most: 1 });
    assert.ok(await lock("one"));
    assert.ok(await lock("other"));
  });

  it("is given to each who waits once the longest wait is over, though nobody releases it", async () => {
    const lock = createKeyedMutex({ longestWaitMs: 20 });
    await lock("key");
    const [second, third] = await Promise.all([lock("key"), lock("key")]);
    assert.ok(second);
    assert.ok(third);
  });

  it("counts whoever was given it early as holding still", async () => {
    const lock = createKeyedMutex({ most: 2, longestWaitMs: 20 });
    const first = await lock("key");
    const second = await lock("key");
    assert.equal(await lock("key"), undefined);
    second?.();
    assert.equal(await lock("key"), undefined, "the first holds it");
    first?.();
    await turn();
    assert.ok(await lock("key"));
  });
});
