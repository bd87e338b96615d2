// Run: shared
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { root, sources } from "./table.ts";
import { tellingWays } from "./ways.ts";

/** What begins a process or a thread of the service: it is named by its address and not by an import. */
const begun = sources.flatMap(({ path, text }) =>
  [...text.matchAll(/new URL\(`([^`]+)\$\{extname\(import\.meta\.url\)\}`/g)].map(
    ([, named = ""]) => join(path, "..", `${named}.ts`),
  ),
);

const waysOf = (...args: string[]): string => {
  const told = execFileSync(process.execPath, [`--import=${tellingWays}`, ...args], {
    cwd: root,
    encoding: "utf8",
    env: {},
  });
  return /^ways: (.*)$/m.exec(told)?.[1] ?? "not told";
};

describe("text that becomes code (decision 0091)", () => {
  it("finds no way in a process of the service, and neither does the prototype of all objects", () => {
    assert.equal(waysOf("--disable-proto=throw", "src/main.js", "version"), "");
  });

  it("finds every way in a process that is not hardened: each is tried", () => {
    assert.equal(waysOf("--eval=0").split(",").length, 15);
  });

  it("is refused first in everything that begins a process or a thread", () => {
    assert.ok(begun.length >= 6, `${begun.length} found`);
    const first = new Map(sources.map(({ path, imports }) => [path, imports[0] ?? "none"]));
    const open = ["main.js", ...begun].filter(
      (path) => !/^(?:\.\.?\/)+hardened\.js$/.test(first.get(path) ?? "no file"),
    );
    assert.deepEqual(open, []);
  });
});
