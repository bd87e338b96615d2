import { appendFileSync, existsSync, openSync, readFileSync } from "node:fs";
import { beforeCommits, flushFailed, flushingOf } from "../storage/sqlite-commits.ts";

// Imported by a process of the service before anything else: it notes of each commit whether SQLite was told to flush it, and
// makes flushes fail or take long. It stands between the store and the library, so that it works wherever the service does.

const file = process.env["FLUSH_WATCH"];
const failsFrom = Number(process.env["FLUSH_FAILS_FROM"] ?? Number.POSITIVE_INFINITY);

const takesMs = Number(process.env["FLUSH_TAKES_MS"] ?? 0);

/**
 * What a process needs to be watched.
 * @param flush `failsFrom`: the flush of this commit fails, and all after it; `takesMs`: how long each takes
 */
export const watchedBy = (to: string, flush: { failsFrom?: number; takesMs?: number } = {}) => ({
  imports: [import.meta.filename],
  env: {
    FLUSH_WATCH: to,
    ...(flush.failsFrom === undefined ? {} : { FLUSH_FAILS_FROM: String(flush.failsFrom) }),
    ...(flush.takesMs === undefined ? {} : { FLUSH_TAKES_MS: String(flush.takesMs) }),
  },
});

/** How many commits a file of a watched process tells of, and what is wrong with them. */
export function flushesIn(from: string): { commits: number; failed: number; violations: string[] } {
  const text = existsSync(from) ? readFileSync(from, "utf8") : "";
  const lines = text.split("\n").slice(0, -1);
  const wrong = lines.flatMap((line) => {
    const { synchronous, journal, isFlushed } = JSON.parse(line);
    return isFlushed ? [] : [`journal_mode ${journal}, synchronous ${synchronous}`];
  });
  const kinds = [...new Set(wrong)];
  return {
    commits: lines.length,
    failed: lines.filter((line) => JSON.parse(line).fails).length,
    violations: kinds.map((kind) => `a commit is not flushed before it is acknowledged: ${kind}`),
  };
}

if (file !== undefined) {
  // Opened once: what it takes besides the flush is not the disk's.
  const log = openSync(file, "a");
  let commits = 0;
  beforeCommits((connection) => {
    commits += 1;
    const fails = commits >= failsFrom;
    appendFileSync(log, `${JSON.stringify({ ...flushingOf(connection), fails })}\n`);
    // As a disk does: the thread that flushes can do nothing else.
    if (takesMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, takesMs);
    if (fails) throw flushFailed();
  });
}
