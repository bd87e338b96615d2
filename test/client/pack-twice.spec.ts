// Run: alone, long
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { pack } from "../../.ci/pack.ts";

const work = mkdtempSync(join(tmpdir(), "idsvc-packed-twice-"));
after(() => rmSync(work, { recursive: true, force: true }));

describe("the package", () => {
  it("has the same bytes whenever it is built", () => {
    const [first, again] = ["first", "again"].map((name) => readFileSync(pack(join(work, name))));
    assert.ok(first !== undefined && again !== undefined && first.equals(again));
  });
});
