// Run: shared
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const root = join(import.meta.dirname, "../..");
const table = readFileSync(join(root, "docs/security/asvs.md"), "utf8");

/** Rows as their cells. */
const rows = table
  .split("\n")
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));

/** How many requirements of levels 1 and 2 the chapters have that are there as a whole, in version 5.0.0. */
const whole = new Map([
  ["6", 35],
  ["7", 18],
  ["8", 7],
  ["9", 7],
  ["10", 29],
  ["16", 16],
]);

const chapterOf = (number: string): string => number.slice(0, number.indexOf("."));
const named = /`([^`]+)`: "([^"]+)"/g;

/** Titles as they stand in a spec; a formatter puts long ones on a line of their own. */
const titlesOf = (spec: string): Set<string> =>
  new Set(
    [...readFileSync(join(root, spec), "utf8").matchAll(/\bit\(\s*"([^"]+)"/g)].map(
      ([, title = ""]) => title,
    ),
  );

describe("the table of ASVS 5.0 (docs/security/asvs.md)", () => {
  it("has every requirement of the chapters that are there as a whole, once", () => {
    const numbers = rows.map(([number = ""]) => number);
    assert.equal(new Set(numbers).size, numbers.length);
    for (const [chapter, count] of whole) {
      assert.equal(numbers.filter((each) => chapterOf(each) === chapter).length, count, chapter);
    }
  });

  it("names tests that there are, or says what is not met and why", () => {
    let tests = 0;
    for (const [number = "", , , shown = ""] of rows) {
      const all = [...shown.matchAll(named)];
      const says = /(?:^|; )(?:not met, (?:because|for)|does not apply: )/.test(shown);
      assert.ok(all.length > 0 || says, `${number} is neither shown nor said not to be met`);
      for (const [, spec = "", title = ""] of all) {
        assert.match(spec, /^test\/.+\.spec\.ts$/, number);
        assert.ok(existsSync(join(root, spec)), `${number} names ${spec}, which is not there`);
        assert.ok(titlesOf(spec).has(title), `${number}: ${spec} has no test "${title}"`);
        tests++;
      }
    }
    assert.ok(tests > 100, "the table names tests");
  });
});
