// Run: shared
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { it } from "node:test";

const root = resolve(import.meta.dirname, "../..");

/** Comments of TypeScript, JavaScript and the schema: blocks, and what follows two slashes that are not part of an address. */
const comments = /\/\*[\s\S]*?\*\/|(?<![:"'`\w])\/\/.*/g;
const ofOneGender = /\b(?:he|his|him|himself|she|her|hers|herself)\b/i;

it("comments of the sources and the schema call people they", () => {
  const paths = globSync(["src/**/*.{ts,js}", "proto/**/*.proto"], { cwd: root });
  const all = paths.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(comments)].map(([text]) => ({
      path,
      text,
    })),
  );
  assert.ok(all.length > 3_000, `only ${all.length} comments were found`);
  const wrong = all.filter(({ text }) => ofOneGender.test(text));
  assert.deepEqual(wrong, []);
});
