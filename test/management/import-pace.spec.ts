// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPace } from "../../src/management/import/pace.ts";

describe("how many records of an import make a unit", () => {
  it("is so many that units of one size are left, none larger than the pace allows", () => {
    using pace = createPace().measure();
    const asked = [250, 101, 100, 51, 50, 49, 1].map((left) => pace.records(left));
    assert.deepEqual(asked, [50, 34, 50, 26, 50, 49, 1]);
  });
});
