// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { languages, isLanguage } from "../../src/texts/languages.ts";
import { type SampleOptions, samples } from "../login/samples.ts";

const largest = 30 * 1024;

/** The pages above 30 KB, in every language. */
const tooLarge = (options: SampleOptions): unknown[] =>
  Object.keys(languages)
    .filter(isLanguage)
    .flatMap((language) =>
      [...samples({ language, nonce: "dGVzdC1ub25jZQ", ...options })]
        .map(([name, html]) => ({ name, language, bytes: Buffer.byteLength(html) }))
        .filter(({ bytes }) => bytes > largest),
    );

// What the service makes itself, and what is bounded in another way: ids, tokens, codes, addresses.
const ours =
  /^(?:|flow-1|csrf-token|[cks]?\d*|\/ui.*|https:.*|app\..*|otpauth:.*|\+41.*|(?:JBSW|BCDF|ABCD|WDJB).*)$/;

describe("a page of the login or of an account", () => {
  it("has at most 30 KB, as full as it can become, in every language", () => {
    assert.deepEqual(tooLarge({}), []);
  });

  for (const [kind, letter] of [
    ["of four bytes each", "𝒜"],
    ["that are escaped", '"'],
  ] as const) {
    it(`has at most 30 KB where all names are as long as they may be, of letters ${kind}`, () => {
      const say = (text: string) => (ours.test(text) ? text : letter.repeat(200));
      const branding = { productName: letter.repeat(256) };
      assert.deepEqual(tooLarge({ say, branding }), []);
    });
  }
});
