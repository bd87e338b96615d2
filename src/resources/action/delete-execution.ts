import { decideOn, type WriteContext } from "../../eventstore/transaction.ts";
import { allIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { answering } from "../object/plain.ts";
import { deleteExecution, execution, withoutInclude } from "./execution/execution.ts";
import { executionIncludes } from "./execution/projection.ts";

/** Deletes an execution and takes it out of the includes of others, as one unit. */
export const removeExecution = (deps: Deps, at: WriteContext, id: string) =>
  answering(deps)(at, async (tx) => {
    const removed = await decideOn(tx, execution, id, deleteExecution);
    const including = { instanceId: at.instanceId, includeId: id };
    for (const other of await allIds(deps.db, tx, executionIncludes, including, "executionId")) {
      await decideOn(tx, execution, other, (state) => withoutInclude(state, id));
    }
    return { written: tx.written(removed) };
  });
