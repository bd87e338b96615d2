import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { caseFold } from "../../src/storage/case-fold.ts";

// NOTE: the formula of A9 leaves this one character apart: the capital sharp s has no other capital, so it becomes the
// small one, while the small one becomes "ss".
const capitalSharpS = 0x1e9e;

describe("folding a text (A9, C4)", () => {
  for (const [a, b, why] of [
    ["Audit", "aUDIT", "upper and lower case"],
    ["Stra\u00dfe", "STRASSE", "sharp s and its capitals"],
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

  it("follows the formula of A9 to the letter: NFKC, upper, lower, NFKC", () => {
    for (const text of ["Stra\u00dfe", "\u1e9e", "\ufb01 \uff21", "\u0130", "\u03a3\u03a3 \u03c2"])
      assert.equal(
        caseFold(text),
        text.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC"),
      );
  });
  it("folds what is folded to itself, for every character but the capital sharp s", () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      if ((point >= 0xd800 && point <= 0xdfff) || point === capitalSharpS) continue;
      const folded = caseFold(String.fromCodePoint(point));
      if (caseFold(folded) !== folded) assert.fail(`U+${point.toString(16)} folds twice`);
    }
  });
  it("folds the capital and the small form of every letter alike", () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      if ((point >= 0xd800 && point <= 0xdfff) || point === capitalSharpS) continue;
      const letter = String.fromCodePoint(point);
      const folded = caseFold(letter);
      if (caseFold(letter.toUpperCase()) !== folded)
        assert.fail(`U+${point.toString(16)} and its capital differ`);
    }
  });
});
