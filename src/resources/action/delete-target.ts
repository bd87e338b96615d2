import type { WriteContext, Written } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { execution, withoutTarget } from "./execution/execution.ts";
import { executionTargets } from "./execution/projection.ts";
import { executionsOfTarget } from "./execution/queries.ts";
import { signingKeyRef } from "./target/signing-key.ts";
import { targets } from "./target/target.ts";

/**
 * Deletes a target and takes it out of every execution that lists it, as one unit (specification 4.1.1). An execution
 * that begins to list it meanwhile makes the decision be taken anew.
 */
export async function removeTarget(
  { db, events, secrets }: Deps,
  at: WriteContext,
  id: string,
): Promise<Written> {
  const written = await events.transact(at, async (tx) => {
    const loaded = await tx.load(targets.aggregate, id);
    tx.record(targets.aggregate, loaded, targets.remove(loaded.state));
    const users = await executionsOfTarget(db, at.instanceId, id);
    const where = { instanceId: at.instanceId, targetId: id };
    tx.expectAll(executionTargets, where, "executionId", users);
    for (const user of users) {
      const caller = await tx.load(execution, user);
      tx.record(execution, caller, withoutTarget(caller.state, id));
    }
    tx.write(secrets.remove(signingKeyRef(at.instanceId, id)));
    return tx.written(loaded);
  });
  return written();
}
