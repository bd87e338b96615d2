// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { caseFold } from "../../src/storage/case-fold.ts";

describe("folding a text (A9, C4)", () => {
  for (const [a, b, why] of [
    ["Audit", "aUDIT", "upper and lower case"],
    ["Stra\u00dfe", "STRASSE", "sharp s and its capitals"],
    ["\u1e9e", "ss", "the capital sharp s"],
    ["\u017fecret", "SECRET", "the long s"],
    ["\u03c3\u03c2", "\u03a3\u03a3", "sigma within and at the end"],
    ["\uff21\uff35\uff24\uff29\uff34", "audit", "full-width letters"],
    ["\u2460", "1", "a circled digit"],
    ["\ufb01le", "FILE", "a ligature"],
    ["e\u0301", "\u00c9", "an accent as a sign of its own"],
    ["\u212b", "\u00e5", "the angstrom sign"],
    ["\u0131", "I", "the i without a dot"],
    ["\u1f80", "\u1f88", "Greek with iota below"],
    ["\u01c5", "\u01c4", "a title case letter"],
  ] as const)
    it(`takes ${why} for the same`, () => assert.equal(caseFold(a), caseFold(b)));

  for (const [a, b, why] of [
    ["a", "b", "different letters"],
    ["a", "\u00e4", "a letter with and without its dots"],
    ["audit", "audit ", "a space at the end"],
    ["audit", "\u0430udit", "a Cyrillic letter of the same look"],
    ["a_b", "a%b", "signs that are wild in SQL"],
  ] as const)
    it(`keeps ${why} apart`, () => assert.notEqual(caseFold(a), caseFold(b)));

  it("folds what is folded to itself, for every character there is", () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const folded = caseFold(String.fromCodePoint(point));
      if (caseFold(folded) !== folded) assert.fail(`U+${point.toString(16)} folds twice`);
    }
  });
  it("folds the capital and the small form of every letter alike", () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const letter = String.fromCodePoint(point);
      const folded = caseFold(letter);
      if (caseFold(letter.toUpperCase()) !== folded)
        assert.fail(`U+${point.toString(16)} and its capital differ`);
    }
  });
});
