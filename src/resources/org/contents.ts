import {
  decideOn,
  type Initiator,
  initiator,
  type Transaction,
  type WriteContext,
} from "../../eventstore/transaction.ts";
import { enqueue, handle, type JobHandlers, jobKind } from "../../jobs/job.ts";
import type { Deps, RemoveContents } from "../../projection/module.ts";
import { organization, organizationEvents } from "./organization.ts";

/** An organization that was deleted, and by whom: what follows from it is their doing too. */
type Leaving = { organizationId: string; by: Initiator };

const removeContents = jobKind<Leaving>("org.contents.remove");
const batchSize = 100;

/** Makes sure, in the unit that deletes an organization, that what it leaves behind will be removed. */
export function removeContentsLater(
  tx: Transaction,
  newId: () => string,
  organizationId: string,
): void {
  const { instanceId } = tx.at;
  const by = initiator(tx.at);
  tx.write(
    enqueue(removeContents, { instanceId, id: newId(), now: tx.now }, { organizationId, by }),
  );
}

/**
 * Removes what deleted organizations left behind: all slices in turn, in batches, until none has anything left, which
 * `org.contents.removed` then says. Nothing can come anew meanwhile: whatever is created in an organization makes sure at
 * its commit that it is there.
 */
export const organizationContentsJobs = (
  { events }: Pick<Deps, "events">,
  removers: readonly RemoveContents[],
): JobHandlers =>
  handle(removeContents, async (job) => {
    const { organizationId, by } = job.payload;
    const at: WriteContext = { ...by, instanceId: job.instanceId, signal: job.signal };
    for (const remove of removers) {
      if ((await remove(at, organizationId, batchSize)) > 0) return "again";
    }
    await events.transact(at, async (tx) => {
      await job.finish(tx);
      await decideOn(tx, organization, organizationId, () => [
        organizationEvents["contents.removed"]({}),
      ]);
    });
    return "done";
  });
