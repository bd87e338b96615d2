import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { type Config, type ConfigInput, loadConfig } from "../../src/app/config.ts";
import { DomainError } from "../../src/errors.ts";

const folder = mkdtempSync(join(tmpdir(), "idsvc-config-"));
// Several specs of one process may use it.
process.once("exit", () => rmSync(folder, { recursive: true }));
let files = 0;

/** The path of a new file with this content, gone after the tests. */
export function fileOf(content: string): string {
  files += 1;
  const path = join(folder, `${files}.yaml`);
  writeFileSync(path, content);
  return path;
}

/** Loads a configuration from just these settings. */
export const load = (input: Partial<ConfigInput> = {}): Config =>
  loadConfig({ files: [], env: {}, flags: {}, ...input });

/** How `idsvc config` shows one option. */
export const shown = (config: Config, env: string) =>
  config.describe().find((option) => option.env === env);

/** Asserts that loading is refused for this reason, in a message with these words and without the word MARKER. */
export function refused(
  input: Partial<ConfigInput>,
  reason: string,
  ...words: (string | RegExp)[]
) {
  assert.throws(
    () => load(input),
    (error: unknown) => {
      assert.ok(error instanceof DomainError, inspect(error));
      assert.equal(error.kind, "invalidArgument");
      assert.equal(error.reason, reason, error.message);
      for (const word of words)
        assert.ok(
          typeof word === "string" ? error.message.includes(word) : word.test(error.message),
          `${word}: ${error.message}`,
        );
      assert.ok(!inspect(error, { depth: 9 }).includes("MARKER"), "no secret in the error");
      return true;
    },
  );
}

/** A master key as a user gives it. */
export const masterKey = Buffer.alloc(32, 9).toString("base64");
