// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { languages, isLanguage } from "../../src/texts/languages.ts";
import { samples } from "../login/samples.ts";

const largest = 30 * 1024;

describe("a page of the login or of an account", () => {
  it("has at most 30 KB, as full as it can become, in every language", () => {
    const large = Object.keys(languages)
      .filter(isLanguage)
      .flatMap((language) =>
        [...samples({ language, nonce: "dGVzdC1ub25jZQ" })]
          .map(([name, html]) => ({ name, language, bytes: Buffer.byteLength(html) }))
          .filter(({ bytes }) => bytes > largest),
      );
    assert.deepEqual(large, []);
  });
});
