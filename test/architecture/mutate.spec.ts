// Run: shared
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { places, root } from "../mutate/places.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");

describe("the faults of npm run mutate", () => {
  it("are at texts that their files have once, each with a test of that title", () => {
    for (const { file, find, replace, spec, test } of places) {
      assert.equal(read(file).split(find).length, 2, `${file}: ${find}`);
      assert.notEqual(find, replace, file);
      assert.ok(read(spec).includes(`"${test}"`), `${spec}: ${test}`);
    }
  });
});
