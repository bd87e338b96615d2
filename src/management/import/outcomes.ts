import type { Database } from "../../storage/database.ts";
import { and, asc, eq, gt, or } from "../../storage/drizzle.ts";
import { importBatches, type RecordOutcome } from "./tables.ts";

const batchesAPage = 100;

/** What became of the records of an import, kind after kind, as far as it is; a page of batches in memory at a time. */
export async function* outcomesOf(
  db: Database,
  { instanceId, id }: { instanceId: string; id: string },
): AsyncGenerator<RecordOutcome & { kind: string }> {
  const b = db.table(importBatches);
  for (let last: { rank: number; number: number } | undefined; ; ) {
    const later =
      last && or(gt(b.rank, last.rank), and(eq(b.rank, last.rank), gt(b.number, last.number)));
    const page = await db.read
      .select()
      .from(b)
      .where(and(eq(b.instanceId, instanceId), eq(b.importId, id), later))
      .orderBy(asc(b.rank), asc(b.number))
      .limit(batchesAPage);
    for (const { kind, outcomes } of page) {
      for (const outcome of outcomes) yield { ...outcome, kind };
    }
    last = page.at(-1);
    if (page.length < batchesAPage) return;
  }
}
