// Run: shared
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { createBreachScreen } from "../../../src/app/breached-passwords.ts";
import { createLogger } from "../../../src/telemetry/logger.ts";
import { breachedFile } from "../../support/breached-file.ts";

/** What this process has read from files so far, in bytes. */
const readSoFar = (): number =>
  Number(/^rchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

// How long that takes is a row of the bench (`screened-password`).
it("of a file of a million breached passwords a few pieces are read for a password (L7)", async () => {
  using known = breachedFile(1_000_000);
  const outside = { call: () => Promise.reject(new Error("nobody is to be called")) };
  const logger = createLogger("silent");
  const isBreached = createBreachScreen({ file: known.path, url: undefined, outside, logger });
  const lookUp = async (nth: number) => {
    const isKnown = nth % 2 === 0;
    const password = isKnown ? known.password(nth) : `none ${nth}`;
    assert.equal(await isBreached(password), isKnown);
  };
  await lookUp(0);
  const pieces: number[] = [];
  for (let nth = 0; nth < 1_000; nth += 1) {
    const before = readSoFar();
    await lookUp(nth);
    pieces.push((readSoFar() - before) / 65_536);
  }
  const [percentile = 0] = pieces.toSorted((a, b) => b - a).slice(10);
  assert.ok(percentile > 1 && percentile < 4, `${percentile} pieces of 64 KiB`);
});
