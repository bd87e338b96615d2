import type { WriteContext, Written } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { deleteExecution, execution, withoutInclude } from "./execution/execution.ts";
import { executionIncludes } from "./execution/projection.ts";
import { executionsIncluding } from "./execution/queries.ts";

/** Deletes an execution and takes it out of the includes of others, as one unit. */
export async function removeExecution(
  { db, events }: Deps,
  at: WriteContext,
  id: string,
): Promise<Written> {
  const written = await events.transact(at, async (tx) => {
    const loaded = await tx.load(execution, id);
    tx.record(execution, loaded, deleteExecution(loaded.state));
    const including = await executionsIncluding(db, at.instanceId, id);
    const where = { instanceId: at.instanceId, includeId: id };
    tx.expectAll(executionIncludes, where, "executionId", including);
    for (const other of including) {
      const includer = await tx.load(execution, other);
      tx.record(execution, includer, withoutInclude(includer.state, id));
    }
    return tx.written(loaded);
  });
  return written();
}
