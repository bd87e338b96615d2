// Run: shared
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { describe, it } from "node:test";
import { indexOf, readDecisions, readIndex } from "./decisions.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Where references stand: sources, schema, tests, documents. */
const readers = globSync(
  ["src/**/*.{ts,js}", "proto/**/*.proto", "test/**/*.{ts,md}", "docs/**/*.md", ".ci/*.ts", "*.md"],
  { cwd: root },
).filter((path) => basename(path) !== "references.spec.ts");

const decisions = readDecisions();

/** The ids in the first column of the tables of a document. */
const listed = (path: string): string[] =>
  [...read(path).matchAll(/^\| ([A-Z]\d\d) \|/gm)].map(([, id = ""]) => id);

type Family = {
  defined: readonly string[];
  /** Finds the ids of references, and nothing around them. */
  reference: RegExp;
};

// Not within what is encoded: percent signs, base64, hashes.
const before = String.raw`(?<![\w%$/+=-])`;
const after = String.raw`(?![\w%$/+=])`;

const families: Record<string, Family> = {
  "a decision by its id": {
    defined: decisions.flatMap(({ id }) => id ?? []),
    reference: new RegExp(String.raw`${before}[ABCEGHJLSX][1-9]\d?[ab]?${after}`, "g"),
  },
  "a decision by its number": {
    defined: decisions.map(({ number }) => number),
    reference: /(?<=\bdecisions? (?:\d+(?:, | and | to ))*)\d{4}\b/g,
  },
  "an abuse case": {
    defined: listed("docs/abuse-cases.md"),
    reference: new RegExp(String.raw`${before}D\d\d?${after}`, "g"),
  },
  "a fault": {
    defined: listed("docs/faults.md"),
    reference: new RegExp(String.raw`${before}F\d\d?${after}`, "g"),
  },
  "a section of the specification": {
    defined: [...read("docs/specification.md").matchAll(/^## ([\d.]+) /gm)].map(([, n = ""]) => n),
    reference: /(?<=\bspecification (?:[\d.]+(?:, | and | to ))*)\d+(?:\.\d+)*/g,
  },
};

/** Documents by which rules were named that are not in the repository, and the forms of before. */
const elsewhere =
  /\b(?:(?:decisions|authority|account|abuse cases?) [A-Z]?\d|faults? [A-Z\d]\d|background \d|finding \d|(?:the specification|resources|authority), [A-Z\d])/g;

/** What a file says, as one line: comments are broken anywhere. */
const texts = readers.map((path): [path: string, text: string] => [
  path,
  read(path).replaceAll(/\n\s*(?:\/\/|\*)? */g, " "),
]);

const found = (pattern: RegExp, isWrong: (match: string) => boolean): string[] =>
  texts.flatMap(([path, text]) =>
    (text.match(pattern) ?? []).filter(isWrong).map((match) => `${path}: ${match}`),
  );

describe("references", () => {
  for (const [name, { defined, reference }] of Object.entries(families)) {
    it(`to ${name} are defined`, () => {
      const known = new Set(defined);
      assert.deepEqual(
        found(reference, (id) => !known.has(id)),
        [],
      );
      assert.notEqual(found(reference, (id) => known.has(id)).length, 0);
    });

    it(`to ${name} mean one thing`, () =>
      assert.deepEqual(
        defined.filter((id, index) => defined.indexOf(id) !== index),
        [],
      ));
  }

  it("lead to nothing outside of the repository", () =>
    assert.deepEqual(
      found(elsewhere, () => true),
      [],
    ));

  it("to documents lead to files", () => {
    const names = new Set(readers.map((path) => basename(path)));
    assert.deepEqual(
      found(/\b[\w-]+\.md\b/g, (file) => !names.has(file)),
      [],
    );
  });
});

it("the glossary has at most sixty terms", () => {
  const [, glossary = ""] = read("CONTRIBUTING.md").split("## Glossary");
  const terms = [...glossary.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = ""]) =>
    cell.split(", "),
  );
  assert.equal(terms.shift(), "Term");
  assert.ok(terms.length > 0 && terms.length <= 60, `${terms.length}`);
});

describe("the decisions", () => {
  it("stand in the index as their files say", () => assert.equal(readIndex(), indexOf(decisions)));

  it("have a number, a status, a context, a choice and a price each", () => {
    const whole =
      /^# .+\n\n- Number: \d{4}\n(?:- Id: [A-Z]\d+[ab]?\n)?- Date: \d{4}-\d\d-\d\d\n- Status: (?:proposed|accepted|superseded by .+)\n\n## Context\n\n[^]+\n\n## Choice\n\n[^]+\n\n## Price\n\n[^]+\n$/;
    assert.deepEqual(
      decisions
        .filter(({ file, number, text }) => !whole.test(text) || !file.startsWith(`${number}-`))
        .map(({ file }) => file),
      [],
    );
  });
});

describe("the lists of abuse cases and faults", () => {
  for (const path of ["docs/abuse-cases.md", "docs/faults.md"])
    it(`name files that name the case (${path})`, () => {
      const rows = [...read(path).matchAll(/^\| ([A-Z]\d\d) \|.*\| ([^|]+) \|$/gm)];
      assert.equal(rows.length, listed(path).length);
      const wrong = rows.flatMap(([, id = "", shown = ""]) =>
        shown
          .split(", ")
          .filter((name) => {
            const file = `test/${name.replaceAll("`", "")}`;
            return !existsSync(join(root, file)) || !new RegExp(`\\b${id}\\b`).test(read(file));
          })
          .map((file) => `${id}: ${file}`),
      );
      assert.deepEqual(wrong, []);
    });
});
