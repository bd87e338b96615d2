import type { Database } from "../storage/database.ts";
import { sql } from "../storage/drizzle.ts";
import { jobs } from "./job.ts";

type Count = { labels: { kind: string; state: "open" | "dead" }; value: number };

/**
 * The number of stored jobs that are open (they wait or are at work) and dead, of each kind; kinds that are not in the
 * list count as `other`.
 */
export async function countJobs(db: Database, kinds: readonly string[]): Promise<Count[]> {
  const t = db.table(jobs);
  const isDead = sql<boolean | number>`${t.deadAt} is not null`;
  const rows = await db.read
    .select({ kind: t.kind, isDead, rows: sql<string | number>`count(*)` })
    .from(t)
    .groupBy(t.kind, isDead);
  return [...kinds, "other"].flatMap((kind) =>
    (["open", "dead"] as const).map((state) => {
      const mine = rows.filter(
        (row) =>
          (kinds.includes(row.kind) ? row.kind : "other") === kind &&
          Boolean(row.isDead) === (state === "dead"),
      );
      return {
        labels: { kind, state },
        value: mine.reduce((sum, row) => sum + Number(row.rows), 0),
      };
    }),
  );
}
