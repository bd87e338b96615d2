import { type Initiator, initiator, type Transaction } from "../../eventstore/transaction.ts";
import { enqueue, jobKind } from "../../jobs/job.ts";

/** A provider that was deleted, and by whom: what follows from it is their doing too. */
export type LeavingIdp = { idpId: string; by: Initiator };

/**
 * The job that follows the deletion of a provider, in the unit that deletes it: the links of users to it are to be removed.
 * Whoever keeps the links does it, in batches, until none is left.
 */
export const removeIdpLinks = jobKind<LeavingIdp>("idp.links.remove");

export function removeIdpLinksLater(tx: Transaction, newId: () => string, idpId: string): void {
  const { instanceId } = tx.at;
  const by = initiator(tx.at);
  tx.write(enqueue(removeIdpLinks, { instanceId, id: newId(), now: tx.now }, { idpId, by }));
}
