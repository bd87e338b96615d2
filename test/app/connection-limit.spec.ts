// Run: shared, store
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connectionLimit } from "../../src/app/connection-limit.ts";

const limits = (files: string) =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${files}                 4096                 files\n`;

describe("connections at once (F26)", () => {
  it("leave a quarter of the files that the process may open", () => {
    assert.equal(connectionLimit(10_000, limits("256")), 192);
    assert.equal(connectionLimit(10_000, limits("1048576")), 10_000);
    assert.equal(connectionLimit(100, limits("256")), 100);
  });

  it("are as many as configured where the system sets or tells no limit", () => {
    assert.equal(connectionLimit(10_000, limits("unlimited")), 10_000);
    assert.equal(connectionLimit(10_000, ""), 10_000);
  });

  it("are read of this process", () => {
    assert.equal(connectionLimit(1), 1);
    assert.ok(connectionLimit(Number.MAX_SAFE_INTEGER) > 0);
  });
});
