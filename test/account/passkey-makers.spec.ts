// Run: shared
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makerOf, namedModels } from "../../src/account/passkey-makers.ts";

const file = join(import.meta.dirname, "../fixtures/passkey-models.json");
const { models } = JSON.parse(readFileSync(file, "utf8")) as { models: Record<string, string> };

// What people call them where the lists say more, or less.
const shortened: Readonly<Record<string, string>> = { "Microsoft Edge": "Edge on Mac" };

describe("who keeps a passkey", () => {
  it("is called as the public lists of models call them, without what tells models of one maker apart", () => {
    assert.deepEqual(namedModels.toSorted(), Object.keys(models).toSorted());
    for (const [model, listed] of Object.entries(models)) {
      const maker = makerOf(model) ?? "";
      assert.ok(listed.startsWith(shortened[maker] ?? maker), `${model}: ${maker}, ${listed}`);
    }
  });

  it("is told of no other model, and of none that is no UUID in small letters", () => {
    for (const unknown of [undefined, "", "constructor", "00000000-0000-0000-0000-000000000000"]) {
      assert.equal(makerOf(unknown), undefined, unknown);
    }
    const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
    assert.deepEqual(
      namedModels.filter((model) => !uuid.test(model)),
      [],
    );
  });
});
