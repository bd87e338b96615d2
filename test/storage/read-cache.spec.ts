// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { entriesIn } from "../../src/storage/read-cache.ts";

describe("the entries of a cache of rows", () => {
  it("are as many as a 64th of the heap has room for, and 1,000 at least", () => {
    assert.equal(entriesIn(4 * 2 ** 30), 26_843);
    assert.equal(entriesIn(2 ** 29), 3_355);
    assert.equal(entriesIn(2 ** 26), 1_000);
  });
});
