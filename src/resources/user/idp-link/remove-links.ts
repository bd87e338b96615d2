import type { Reaction } from "../../../eventstore/settle.ts";
import { type Initiator, initiator } from "../../../eventstore/transaction.ts";
import { enqueue, handle, type JobHandlers, jobKind } from "../../../jobs/job.ts";
import type { Deps } from "../../../projection/module.ts";
import { someIds } from "../../../projection/ids.ts";
import { authenticatorsOf } from "../authenticator/authenticators.ts";
import { userAuthenticators } from "../authenticator/projection.ts";
import { user } from "../user.ts";
import { removeIdpLink } from "./idp-link.ts";

const batchSize = 50;

// Which provider was deleted, and by whom: what follows from it is their doing too.
const removeIdpLinks = jobKind<{ idpId: string; by: Initiator }>("idp.links.remove");

/** Has the links to a provider removed by a job of the unit that deletes it. @param removals the events of that */
export const linksGoWithIdps = (
  { newId }: Pick<Deps, "newId">,
  removals: readonly string[],
): Reaction => ({
  to: removals,
  async react(tx, happened) {
    const { instanceId } = tx.at;
    for (const { aggregateId: idpId } of happened) {
      const leaving = { idpId, by: initiator(tx.at) };
      tx.write(enqueue(removeIdpLinks, { instanceId, id: newId(), now: tx.now }, leaving));
    }
  },
});

/**
 * Removes the links to accounts at providers that were deleted, in batches. They count no more from the deletion on, and
 * who links an account makes sure at their commit that its provider is there.
 */
export const idpLinkJobs = ({ db, events }: Pick<Deps, "db" | "events">): JobHandlers =>
  handle(removeIdpLinks, async (job) => {
    const { idpId, by } = job.payload;
    const { instanceId } = job;
    await db.catchUp();
    const links = { instanceId, kind: "idp", id: idpId };
    const userIds = await someIds(db, userAuthenticators, links, batchSize, "userId");
    await events.transact({ ...by, instanceId, signal: job.signal }, async (tx) => {
      for (const userId of userIds) {
        const loaded = await tx.load(user, userId);
        const linked = authenticatorsOf(loaded.state?.authenticators ?? [], "idp");
        if (!linked.some(({ id }) => id === idpId)) continue;
        tx.record(user, loaded, removeIdpLink(loaded.state, idpId, "cascade.removed"));
      }
      if (userIds.length < batchSize) await job.finish(tx);
      else await job.fence(tx);
    });
    return userIds.length < batchSize ? "done" : "again";
  });
