// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFairQueue } from "../../src/threads/fair-queue.ts";

const all = <T>(queue: { take(): { item: T } | undefined }): T[] => {
  const items: T[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) items.push(next.item);
  return items;
};

describe("a queue that sources share (J12a)", () => {
  it("gives each source its turn", () => {
    const queue = createFairQueue<string>(10);
    for (const item of ["a1", "a2", "a3", "a4"]) queue.add("a", item);
    for (const item of ["b1", "b2"]) queue.add("b", item);
    queue.add("c", "c1");
    assert.deepEqual(all(queue), ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
    assert.equal(queue.size, 0);
  });
  it("takes room for a newcomer from the source that has most, the last of it first", () => {
    const queue = createFairQueue<string>(4);
    for (const item of ["a1", "a2", "a3", "a4"]) assert.equal(queue.add("a", item), undefined);
    assert.equal(queue.add("a", "a5"), "a5");
    assert.equal(queue.add("b", "b1"), "a4");
    assert.equal(queue.add("b", "b2"), "a3");
    assert.equal(queue.add("b", "b3"), "b3");
    assert.equal(queue.size, 4);
    assert.deepEqual(all(queue), ["a1", "b1", "a2", "b2"]);
  });
  it("has items put back go first", () => {
    const queue = createFairQueue<string>(2);
    queue.add("a", "a2");
    queue.putBack("a", ["a1"]);
    queue.putBack("b", ["b1"]);
    assert.deepEqual(all(queue), ["a1", "b1", "a2"]);
    queue.add("a", "a3");
    assert.deepEqual(queue.clear(), ["a3"]);
    assert.equal(queue.take(), undefined);
  });
});
