// Run: shared
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";

const root = resolve(import.meta.dirname, "../..");
const flags = ["--disallow-code-generation-from-strings", "--disable-proto=throw"];
const run = (...given: string[]) =>
  spawnSync(process.execPath, [...flags, join(root, "test/mutate/run.ts"), ...given], {
    encoding: "utf8",
    env: { npm_lifecycle_event: "mutate" },
  });

describe("a script of the tests", () => {
  it("says with --help what it does, and what its options are for", () => {
    const { status, stdout, stderr } = run("--help");
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(
      stdout,
      /^Usage: mutate \[options\]\n\nPuts each fault of places\.json into a copy/,
    );
    assert.match(stdout, /--only <value> +places whose file begins so/);
  });

  for (const [wrong, why] of [
    [["--nope"], "unknown option '--nope'"],
    [["--only"], "option '--only <value>' argument missing"],
    [["F01"], "too many arguments. Expected 0 arguments but got 1: F01."],
  ] as const) {
    it(`is refused “${wrong.join(" ")}” with one line`, () => {
      const { status, stdout, stderr } = run(...wrong);
      assert.deepEqual([status, stdout, stderr], [1, "", `error: ${why}\n`]);
    });
  }
});
