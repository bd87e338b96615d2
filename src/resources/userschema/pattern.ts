import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

// Loaded by the first pattern: of its 260 KB nothing is needed where no schema has one.
const load = createRequire(import.meta.url);
const re2 = (): typeof RE2JS => (load("re2js") as { RE2JS: typeof RE2JS }).RE2JS;

/** The largest program that a pattern may become: `[a-z]{0,500}` needs about as many steps. */
const maxProgramSize = 1_000;
const maxLength = 1_000;

export type Pattern = {
  /** How many steps a text of this length may take at most. */
  steps(length: number): number;
  test(text: string): boolean;
};

/**
 * A regular expression of ECMA 262 that is matched in linear time, so that no text can freeze the process. What cannot
 * be matched so is refused: look-around and references back.
 *
 * @throws Error saying what is wrong with the pattern
 */
export function linearPattern(source: string): Pattern {
  if (source.length > maxLength) throw new Error(`is longer than ${maxLength} characters`);
  const engine = re2();
  let compiled: RE2JS;
  try {
    compiled = engine.compile(engine.translateRegExp(source));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `is no regular expression that can be matched in linear time (no look-around, no references back): ${why}`,
      { cause: error },
    );
  }
  const size = compiled.programSize();
  if (size > maxProgramSize) {
    throw new Error("repeats too much: use minLength and maxLength to limit lengths");
  }
  // Each character costs something even where the program is small.
  return {
    steps: (length) => length * (size + 20),
    test: (text) => compiled.test(text),
  };
}

const atom = String.raw`(?:\\[dDwWsS.$^*+?()[\]{}|/\\-]|\[\^?(?:\\[dDwWsS\]\\^-]|[^\\[\]])+\]|[^\\^$.*+?()[\]{}|]|\.)`;
const simple = new RegExp(
  `^\\^?${atom}*(?:${atom}(?:[*+?]|\\{\\d{1,3}(?:,\\d{0,3})?\\})${atom}*)?\\$?$`,
  "u",
);

/**
 * Whether a pattern is so simple that backtracking takes no more than the square of the length of the text: characters
 * and classes of them, one of which is repeated at most. Names of properties are matched so, and they are short.
 */
export function isSimplePattern(source: string): boolean {
  if (source.length > 200 || !simple.test(source)) return false;
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
