// Run: shared
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { chooseLanguage, isLanguage, languages } from "../../src/texts/languages.ts";
import { isTextKey, shippedTexts, texts } from "../../src/texts/texts.ts";

const english: Record<string, string> = shippedTexts("en");
const all = Object.keys(languages).filter(isLanguage);
const foreign = all.filter((language) => language !== "en");

/** Words that are the same in both languages. */
const same: Record<string, readonly string[]> = {
  de: ["field.code", "message.code", "totp.title", "mfa.totp", "loginName.organization"],
  fr: ["field.code"],
  it: ["field.password"],
  es: [],
  pt: [],
  nl: ["field.code", "message.code", "mfa.totp", "totp.title"],
  pl: ["common.back"],
  cs: [],
  sv: ["loginName.organization"],
  ja: [],
  zh: [],
};

describe("the texts of a language", () => {
  for (const language of foreign) {
    const own: Record<string, string> = shippedTexts(language);

    it(`has every text, and none besides: ${language}`, () => {
      assert.deepEqual(Object.keys(own), Object.keys(english));
    });

    it(`names the same values: ${language}`, () => {
      for (const [key, text] of Object.entries(own)) {
        assert.deepEqual(placeholders(text), placeholders(english[key] ?? ""), key);
      }
    });

    it(`is translated: ${language}`, () => {
      const untranslated = Object.entries(own)
        .filter(([key, text]) => text === english[key])
        .map(([key]) => key);
      const allowed = [...(same[language] ?? []), "mfa.email", "mfa.sms"];
      assert.deepEqual(
        untranslated.filter((key) => !allowed.includes(key)),
        [],
      );
    });

    it(`has a form for each number: ${language}`, () => {
      const rules = new Intl.PluralRules(language);
      const forms = new Set(Array.from({ length: 200 }, (_, count) => rules.select(count)));
      for (const [key, text] of Object.entries(own)) {
        if (!text.includes("plural,")) continue;
        for (const form of forms) assert.ok(text.includes(`${form} {`), `${key} has no ${form}`);
      }
    });
  }

  it("can be said, all of them, with text in place of values", () => {
    const values = { count: 5 };
    const words = [
      "account",
      "address",
      "app",
      "browser",
      "code",
      "date",
      "domain",
      "host",
      "loginName",
      "organization",
      "phone",
      "product",
      "provider",
      "scope",
    ];
    const said = {
      ...values,
      ...Object.fromEntries(words.map((word) => [word, `<b>${word}</b>`])),
    };
    for (const language of all) {
      const t = texts(language);
      for (const key of Object.keys(english).filter(isTextKey)) {
        assert.doesNotMatch(t(key, said), /[{}]|^\s*$/, `${language} ${key}`);
      }
    }
  });

  it("holds no text that no page uses", () => {
    const source = ["login", "account", "notify"]
      .map((folder) => sources(join(import.meta.dirname, "../../src", folder)))
      .join("\n");
    const starts = [...source.matchAll(/`([a-zA-Z.]+\.?)\$\{/g)].map(([, start = ""]) => start);
    const unused = Object.keys(english).filter(
      (key) => !source.includes(`"${key}"`) && !starts.some((start) => key.startsWith(start)),
    );
    assert.deepEqual(unused, []);
  });
});

describe("a text that an owner has set", () => {
  it("takes the place of the shipped one", () => {
    const t = texts("en", new Map([["common.to", "and on to {app}!"]]));
    assert.equal(t("common.to", { app: "Orders" }), "and on to Orders!");
    assert.equal(t("common.back"), "Back");
  });

  for (const [what, text] of [
    ["no message", "and on to {app"],
    ["wants what the page does not have", "and on to {nobody}"],
  ] as const) {
    it(`gives way when it is ${what}`, () => {
      const t = texts("en", new Map([["common.to", text]]));
      assert.equal(t("common.to", { app: "Orders" }), "to continue to Orders");
    });
  }
});

describe("numbers in texts", () => {
  it("follow the language", () => {
    const least = (language: "en" | "pl" | "cs", count: number) =>
      texts(language)("policy.length", { count });
    assert.equal(least("en", 1), "at least 1 character");
    assert.equal(least("en", 12), "at least 12 characters");
    assert.equal(least("pl", 2), "co najmniej 2 znaki");
    assert.equal(least("pl", 12), "co najmniej 12 znaków");
    assert.equal(least("cs", 8), "alespoň 8 znaků");
  });
});

describe("the language of a page", () => {
  const fallback = { default: "en" } as const;

  it("is the first that the request wants, before cookie and browser", () => {
    const wishes = { uiLocales: "tlh fr-CH de", cookie: "it", acceptLanguage: "sv" };
    assert.equal(chooseLanguage({ ...wishes, ...fallback }), "fr");
    assert.equal(chooseLanguage({ ...wishes, uiLocales: "tlh", ...fallback }), "it");
    assert.equal(chooseLanguage({ acceptLanguage: "xx, sv;q=0.3, nl;q=0.8", ...fallback }), "nl");
  });

  it("is one that the instance allows", () => {
    const wishes = { uiLocales: "fr de", acceptLanguage: "fr, it;q=0.5" };
    assert.equal(chooseLanguage({ ...wishes, allowed: ["it", "en"], default: "en" }), "it");
    assert.equal(chooseLanguage({ ...wishes, allowed: [], default: "en" }), "fr");
  });

  it("is the default when any will do, or none is there", () => {
    for (const acceptLanguage of ["*", "", "xx", undefined]) {
      assert.equal(chooseLanguage({ acceptLanguage, default: "pl" }), "pl");
    }
  });

  it("is not disturbed by what is no tag (D78)", () => {
    for (const uiLocales of [`"><script>`, "__proto__", "constructor", "de_", "\u0000", ",;=,;"]) {
      assert.equal(chooseLanguage({ uiLocales, cookie: uiLocales, default: "en" }), "en");
    }
  });
});

const placeholders = (text: string): string[] =>
  [
    ...new Set([...text.matchAll(/\{(\w+)(?:\}|, plural)/g)].map(([, name = ""]) => name)),
  ].toSorted();

const sources = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(folder, path), "utf8"))
    .join("\n");
