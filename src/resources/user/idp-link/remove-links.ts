import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import { enqueue, handle, type JobHandlers, jobKind } from "../../../jobs/job.ts";
import type { Deps } from "../../../projection/module.ts";
import { and, eq } from "../../../storage/drizzle.ts";
import { heldOf } from "../authenticator/authenticators.ts";
import { userAuthenticators } from "../authenticator/projection.ts";
import { user } from "../user.ts";
import { removeIdpLink } from "./idp-link.ts";

/** A provider that was deleted, and by whom: what follows from it is his doing too. */
type Gone = { idpId: string; by: Omit<WriteContext, "instanceId" | "signal"> };

const removeLinks = jobKind<Gone>("user.idp_links.remove");
const batchSize = 50;

/**
 * Makes sure, in the unit that deletes a provider, that the links to its accounts will be removed. They count no more
 * from then on, and whoever links one makes sure at his commit that the provider is there.
 */
export function removeIdpLinksLater(
  tx: Transaction,
  newId: () => string,
  { instanceId, editorId, service, clientId, requestId }: WriteContext,
  idpId: string,
): void {
  const by = { editorId, service, clientId, requestId };
  tx.write(enqueue(removeLinks, { instanceId, id: newId(), now: tx.now }, { idpId, by }));
}

/** Removes the links of deleted providers, in batches. */
export const idpLinkJobs = ({ db, events }: Pick<Deps, "db" | "events">): JobHandlers =>
  handle(removeLinks, async (job) => {
    const { idpId, by } = job.payload;
    const { instanceId } = job;
    const t = db.table(userAuthenticators);
    await db.catchUp();
    const rows = await db.read
      .select({ userId: t.userId })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.kind, "idp"), eq(t.id, idpId)))
      .limit(batchSize);
    await events.transact({ ...by, instanceId, signal: job.signal }, async (tx) => {
      for (const { userId } of rows) {
        const loaded = await tx.load(user, userId);
        const held = heldOf(loaded.state?.authenticators ?? [], "idp");
        if (!held.some(({ id }) => id === idpId)) continue;
        tx.record(user, loaded, removeIdpLink(loaded.state, idpId, "cascade.removed"));
      }
      if (rows.length < batchSize) await job.finish(tx);
      else await job.fence(tx);
    });
    return rows.length < batchSize ? "done" : "again";
  });
