// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { consoleTexts } from "../../src/texts/console-texts.ts";
import { allLanguages } from "../../src/texts/languages.ts";
import { read } from "../architecture/table.ts";

// Chosen by what the page shows, not written where they are said.
const chosen = ["people", "organizations", "applications", "overview", "access", "history", "code"];
const more = ["person", "machine", "active", "inactive", "locked", "initial", "ended", "forbidden"];
const others = ["failed", "copied", "loading", "title", "withoutScripts"];

describe("the words of the console", () => {
  it("are those that its pages say, in every language", async () => {
    const pages = read("src/console").map(({ text }) => text);
    const said = pages.flatMap((text) =>
      [...text.matchAll(/\bt\((?:[^()"]*\? )?"(\w+)"(?: : "(\w+)")?\)/g)].flatMap(
        ([, one = "", other]) => (other === undefined ? [one] : [one, other]),
      ),
    );
    const all = [...new Set([...said, ...chosen, ...more, ...others])].toSorted();
    for (const language of allLanguages) {
      const texts = await consoleTexts(language);
      assert.deepEqual(Object.keys(texts).toSorted(), all, language);
      assert.ok(Object.values(texts).every((text) => text.trim() === text && text !== ""));
    }
  });
});
