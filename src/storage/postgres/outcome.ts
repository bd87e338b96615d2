import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { BatchResult } from "./batch.ts";
import { appendBatches } from "./ddl.ts";
import { outcomeUnknown } from "./errors.ts";

const patienceMs = 10_000;
const pauseMs = 200;

/** What became of a batch whose answer never came: it is there with its results, or it can never be any more. */
export type Outcome = { results: BatchResult } | "void";

/**
 * Finds out what became of a batch (F10), without guessing: makes the row of its key. If that works, the batch
 * was not committed and its own row is refused for ever; if the row is there, it holds the results.
 *
 * @throws UNAVAILABLE STORE_OUTCOME_UNKNOWN when the database stays away for ten seconds
 */
export async function resolveOutcome(
  pool: pg.Pool,
  key: string,
  broken: unknown,
): Promise<Outcome> {
  for (const end = Date.now() + patienceMs; ; await delay(pauseMs)) {
    try {
      const { rows } = await pool.query<{ results: BatchResult | null }>(
        `WITH made AS (INSERT INTO ${appendBatches} (key) VALUES ($1) ON CONFLICT (key) DO NOTHING RETURNING key)
         SELECT results FROM ${appendBatches} WHERE key = $1 UNION ALL SELECT NULL FROM made`,
        [key],
      );
      // Between the two halves of the statement another may have made the row: then neither shows it yet.
      const [row] = rows;
      if (row !== undefined) return row.results === null ? "void" : { results: row.results };
    } catch (error) {
      if (Date.now() > end) throw outcomeUnknown(error);
    }
    if (Date.now() > end) throw outcomeUnknown(broken);
  }
}

const keptFor = "1 hour";
const sweepEveryMs = 10 * 60_000;

/** Removes keys long after anybody could ask for them. */
export function sweepBatches(pool: pg.Pool): Disposable {
  const sweep = () =>
    pool.query(`DELETE FROM ${appendBatches} WHERE at < now() - interval '${keptFor}'`).then(
      () => undefined,
      // The store is away: the next round comes soon enough.
      () => undefined,
    );
  const timer = setInterval(() => void sweep(), sweepEveryMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
