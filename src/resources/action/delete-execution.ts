import { decideOn, type WriteContext, type Written } from "../../eventstore/transaction.ts";
import { allIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { deleteExecution, execution, withoutInclude } from "./execution/execution.ts";
import { executionIncludes } from "./execution/projection.ts";

/** Deletes an execution and takes it out of the includes of others, as one unit. */
export async function removeExecution(
  { db, events }: Deps,
  at: WriteContext,
  id: string,
): Promise<Written> {
  const written = await events.transact(at, async (tx) => {
    const removed = await decideOn(tx, execution, id, deleteExecution);
    const including = { instanceId: at.instanceId, includeId: id };
    for (const other of await allIds(db, tx, executionIncludes, including, "executionId")) {
      await decideOn(tx, execution, other, (state) => withoutInclude(state, id));
    }
    return tx.written(removed);
  });
  return written();
}
