// `npm run bench:screening`: how long it takes to look a password up in a file of breached ones, and how many parts of the file
// are read for it (L7).
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, read, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { promisify } from "node:util";
import { breachedFile } from "../../src/crypto/breached-file.ts";
import { optionsOf } from "../../.ci/options.ts";
import { percentile } from "./judge.ts";
import { printVerdict } from "./report.ts";

const values = optionsOf(
  "How long it takes to look a password up in a file of breached ones, and how many parts of the file are read for it.",
  {
    lines: ["10000000", "lines of the file"],
    lookups: ["20000", "how many are looked up"],
    "at-once": ["8", "how many are looked up at the same time"],
  },
);
const [lines, lookups, atOnce] = [values.lines, values.lookups, values["at-once"]].map(Number);

/** Writes sorted digests as far from each other as those of passwords are; gives some of them back. */
async function writeDigests(path: string, count: number): Promise<string[]> {
  const some: string[] = [];
  const file = createWriteStream(path);
  let part = "";
  for (let at = 0, share = 0; at < count; at += 1) {
    share = Math.min(share - Math.log(1 - Math.random()) / count, 1 - 2 ** -48);
    const start = Math.floor(share * 2 ** 48)
      .toString(16)
      .padStart(12, "0");
    const digest = `${start}${randomBytes(14).toString("hex")}`.toUpperCase();
    if (at % 1_000 === 0) some.push(digest);
    part += `${digest}:${at % 100}\r\n`;
    if (part.length < 4_000_000) continue;
    if (!file.write(part)) await once(file, "drain");
    part = "";
  }
  file.end(part);
  await finished(file);
  return some;
}

const dir = mkdtempSync(join(tmpdir(), "idsvc-screening-"));
try {
  const path = join(dir, "breached.txt");
  const known = await writeDigests(path, lines ?? 0);
  let reads = 0;
  const readAt = promisify(read);
  const isListed = breachedFile(path, (...part) => {
    reads += 1;
    return readAt(...part);
  });
  const times: number[] = [];
  const before = process.cpuUsage();
  let begun = 0;
  async function lookUp(): Promise<void> {
    while (begun < (lookups ?? 0)) {
      const at = begun++;
      const listed = at % 2 === 0 ? known[(at * 7_919) % known.length] : undefined;
      const digest = listed ?? randomBytes(20).toString("hex").toUpperCase();
      const from = performance.now();
      const isFound = await isListed(digest);
      times.push(performance.now() - from);
      if (isFound !== (listed !== undefined)) throw new Error(`${digest}: ${isFound}`);
    }
  }
  await Promise.all(Array.from({ length: atOnce ?? 1 }, lookUp));
  const { user, system } = process.cpuUsage(before);
  printVerdict("screening", times.length, {
    "p50 ms": percentile(times, 50),
    "p99 ms": percentile(times, 99),
    "longest ms": Math.max(...times),
    "reads each": reads / times.length,
    "µs of the processor each": (user + system) / times.length,
  });
} finally {
  rmSync(dir, { recursive: true });
}
