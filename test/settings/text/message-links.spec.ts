// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { allLanguages } from "../../../src/texts/languages.ts";
import { faultOfText, shippedTexts, textKeys, texts } from "../../../src/texts/texts.ts";

const key = "message.code";

describe("texts of messages", () => {
  for (const text of [
    "https://evil.test/?{code}",
    "Go to evil.test/{code}",
    "www.evil.test",
    "{code}.evil.test",
    "evil.{code}",
    "ht''tps://evil.test",
    "{code, select, a {x} other {evil.test}}",
    "mailto:{code}@evil.test",
    "ada@{code}.evil.test",
    "evil\u200b.test",
    "203.0.113.7",
    "ada@evil.test/{code}",
  ]) {
    it(`hold no address of the web: ${text}`, () => {
      assert.match(faultOfText("en", key, text) ?? "", /address of the web/);
      const said = texts("en", new Map([[key, text]]))(key, { code: "123" });
      assert.equal(said, texts("en")(key, { code: "123" }), "one that is stored is not said");
    });
  }

  for (const text of [
    "Your code: {code}. Questions? help@example.com",
    "Write to help@mail.example.com, or call +41 79 000 00 00. Then sign in.",
    "Code {code}, e.g. for 2.5 minutes",
  ]) {
    it(`may say: ${text}`, () => assert.equal(faultOfText("en", key, text), undefined));
  }

  it("are fine as they are shipped, in every language", () => {
    for (const language of allLanguages) {
      for (const each of textKeys) {
        const text = shippedTexts(language)[each];
        assert.equal(faultOfText(language, each, text), undefined, `${language} ${each}`);
      }
    }
  });

  it("are of messages alone: pages may name addresses", () =>
    assert.equal(faultOfText("en", "emailCode.text", "See https://example.com"), undefined));
});
