import { decideOn, type WriteContext } from "../../eventstore/transaction.ts";
import { allIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { answering } from "../object/plain.ts";
import {
  deleteExecution,
  execution,
  withoutInclude,
  withoutTarget,
} from "./execution/execution.ts";
import { executionIncludes, executionTargets } from "./execution/projection.ts";
import { signingKeyRef } from "./target/signing-key.ts";
import { targets } from "./target/target.ts";

/**
 * Deletes a target and takes it out of every execution that lists it, as one unit (specification 4.1.1). An execution
 * that begins to list it meanwhile makes the decision be taken anew.
 */
export const removeTarget = (deps: Deps, at: WriteContext, id: string) =>
  answering(deps)(at, async (tx) => {
    const removed = await decideOn(tx, targets.aggregate, id, targets.remove);
    const listing = { instanceId: at.instanceId, targetId: id };
    for (const other of await allIds(deps.db, tx, executionTargets, listing, "executionId")) {
      await decideOn(tx, execution, other, (state) => withoutTarget(state, id));
    }
    tx.write(deps.secrets.remove(signingKeyRef(at.instanceId, id)));
    return { written: tx.written(removed) };
  });

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
