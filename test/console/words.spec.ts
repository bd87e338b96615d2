// Run: shared
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { memberContexts } from "../../src/console/declared/member-permission.ts";
import {
  saidAttempts,
  saidEndings,
  saidReasons,
  wordOfReason,
} from "../../src/console/declared/refusals.ts";
import { consoleTexts } from "../../src/texts/console-texts.ts";
import { allLanguages } from "../../src/texts/languages.ts";
import { read } from "../architecture/table.ts";
import { declaredWords } from "./declared.ts";

// Chosen by what the page shows, not written where they are said.
const ofReports = ["CREATED", "EXISTED", "REFUSED"].map((each) => `IMPORT_OUTCOME_${each}`);
const chosen = [
  ...ofReports,
  "guide",
  "undo",
  "overview",
  "history",
  "code",
  "human",
  "machine",
  "builtIn",
  "setHere",
  "withoutScripts",
  "see",
  "redirectOfProvider",
  "samlMetadata",
  "samlAnswers",
  "testLogIn",
  ...memberContexts.map((context) => `administratorsOf_${context}`),
];
const ofSettings = ["OWNER_TYPE_INSTANCE", "OWNER_TYPE_ORG"];
const endings = new Set(saidEndings.map(([, word]) => word));
const reasons = [
  ...[...saidReasons, ...endings].map((each) => `refused_${each}`),
  ...saidAttempts.map((each) => `attempt_${each}`),
];
const ofRefusals = ["ended", "forbidden", "lost", "proveAnew", "failed", "save", "copied"];

describe("the words of the console", () => {
  it("say most reasons of refusals in the reader’s language", () => {
    const folders = [
      "src/resources",
      "src/settings",
      "src/management",
      "src/authz",
      "src/executor",
    ];
    const made = folders.flatMap((folder) =>
      read(folder).flatMap(({ text }) =>
        [...text.matchAll(/\b\w+\(\s*(?:[^()"]*,\s*)?"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"/g)].map(
          ([, reason = ""]) => reason,
        ),
      ),
    );
    const all = new Set(made);
    const said = [...all].filter((reason) => wordOfReason(reason) !== undefined);
    assert.ok(all.size > 100, `${all.size} reasons`);
    assert.ok(said.length / all.size > 0.65, `${said.length} of ${all.size} reasons`);
  });

  it("are those that its pages and declarations say, in every language", async () => {
    const sources = read("src/console").map(({ text }) => text);
    const said = sources.flatMap((text) =>
      [...text.matchAll(/\bt\((?:[^()"]*\? )?"(\w+)"(?: : "(\w+)")?\)/g)].flatMap(
        ([, one = "", other]) => (other === undefined ? [one] : [one, other]),
      ),
    );
    const all = new Set([
      ...said,
      ...declaredWords(),
      ...chosen,
      ...ofSettings,
      ...ofRefusals,
      ...reasons,
    ]);
    for (const language of allLanguages) {
      const texts = await consoleTexts(language);
      assert.deepEqual(Object.keys(texts).toSorted(), [...all].toSorted(), language);
      assert.ok(Object.values(texts).every((text) => text.trim() === text && text !== ""));
    }
  });

  it("name in each language what an action is about where the English do", async () => {
    const named = ({ sure }: { sure: string }) => sure.includes("{name}");
    for (const language of allLanguages) assert.ok(named(await consoleTexts(language)), language);
  });
});
