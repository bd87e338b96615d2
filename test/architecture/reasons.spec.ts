// Run: shared
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, it } from "node:test";
import * as errors from "../../src/errors.ts";

const root = resolve(import.meta.dirname, "../../src");

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => join(root, file));

// What makes a refusal: the functions of `errors.ts` that take a reason, and the class itself.
const makers = Object.entries(errors)
  .filter(([, each]) => typeof each === "function")
  .map(([name]) => name);
const made = new RegExp(
  `\\b(?:${makers.join("|")})\\(\\s*(?:[^()"]*,\\s*)?(?:"[a-z]\\w*",\\s*)?"([A-Z][A-Z0-9_]+)"`,
  "g",
);

/** The files that make a refusal of each reason, of these texts by their file. */
function placesOf(texts: ReadonlyMap<string, string>): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const [file, text] of texts) {
    const reasons = new Set([...text.matchAll(made)].map(([, reason = ""]) => reason));
    for (const reason of reasons) places.set(reason, [...(places.get(reason) ?? []), file]);
  }
  return places;
}

describe("reasons of refusals", () => {
  it("are found, however a refusal is made", () => {
    const text = `
      throw notFound("A_MISSING", "x");
      throw invalidField(\`a.\${b}\`, "B_INVALID", "x");
      throw invalidField("field", "C_INVALID", "x");
      new DomainError(kind, "D_BROKEN", "x");
      throw unavailable(
        "E_BUSY",
        "x",
      );`;
    const found = [...placesOf(new Map([["x.ts", text]])).keys()];
    assert.deepEqual(found.toSorted(), [
      "A_MISSING",
      "B_INVALID",
      "C_INVALID",
      "D_BROKEN",
      "E_BUSY",
    ]);
  });

  it("are made in one file each", () => {
    const texts = new Map(files.map((file) => [relative(root, file), readFileSync(file, "utf8")]));
    const places = placesOf(texts);
    assert.ok(places.size > 250, `${places.size} reasons`);
    const several = [...places].filter(([, where]) => where.length > 1);
    assert.deepEqual(several, []);
  });
});
