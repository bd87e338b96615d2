import type { Database } from "../../storage/database.ts";
import { pagesOf } from "../../projection/pages.ts";
import { importBatches, type RecordOutcome } from "./tables.ts";

const batchesAPage = 100;

/** What became of the records of an import, kind after kind, as far as it is; a page of batches in memory at a time. */
export async function* outcomesOf(
  db: Database,
  { instanceId, id: importId }: { instanceId: string; id: string },
): AsyncGenerator<RecordOutcome & { kind: string }> {
  const order = ["rank", "number"] as const;
  const its = { importId };
  for await (const page of pagesOf(db, importBatches, order, instanceId, its, batchesAPage)) {
    for (const { kind, outcomes } of page) {
      for (const outcome of outcomes) yield { ...outcome, kind };
    }
  }
}
