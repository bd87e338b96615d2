// A process of its own: a password looked up in a file of a million breached ones, beside the reads that it takes at least.
import { open } from "node:fs/promises";
import { createBreachScreen } from "../../src/app/breached-passwords.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { breachedFile } from "../support/breached-file.ts";
import { microRounds, microTiming, printRates } from "./micro.ts";

const pieceBytes = 65_536;
using known = breachedFile(1_000_000);
const isBreached = createBreachScreen({
  file: known.path,
  url: undefined,
  outside: { call: () => Promise.reject(new Error("nobody is to be called")) },
  logger: createLogger("silent"),
});
let asked = 0;

async function lookUp() {
  const nth = asked++ % 1_000_000;
  if (!(await isBreached(known.password(nth)))) throw new Error(`number ${nth} was not found`);
}

/** Opens the file, asks for its length and reads two pieces of it. */
async function readTwice() {
  await using file = await open(known.path, "r");
  const { size } = await file.stat();
  for (let piece = 0; piece < 2; piece += 1) {
    const at = (asked++ * 7_919 * pieceBytes) % (size - pieceBytes);
    await file.read(Buffer.alloc(pieceBytes), 0, pieceBytes, at);
  }
}

printRates(
  await microRounds(
    {
      "screened-password": { count: 1, run: lookUp },
      "raw screened-password": { count: 1, run: readTwice },
    },
    microTiming(),
  ),
);
