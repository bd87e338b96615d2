import type { OwnerRef } from "../../eventstore/event.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { enqueue, jobKind } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { caseFold } from "../../storage/case-fold.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { users } from "../user/index.ts";
import { domainIdOf, type OrganizationEvent } from "./events.ts";
import { type Organization, organization } from "./org.ts";

/** A domain that an organization has proven. */
export type DomainClaim = {
  organizationId: string;
  domain: string;
  domainId: string;
  /** The id of the last user who was looked at. */
  after: string;
};

/**
 * The job that follows the proof of a domain, in the unit that records it: users of other organizations whose usernames end
 * in it are to be told. Claims of one domain are told one after the other.
 */
export const domainClaimed = jobKind<DomainClaim>("domain.claimed");

/**
 * Records what happened to an organization. Every `org.domain.verified` goes this way, but those of a new instance, which
 * has no users yet.
 */
export function organizationRecorder({ db, newId }: Pick<Deps, "db" | "newId">) {
  const t = db.table(users);

  async function claim(tx: Transaction, instanceId: string, claimed: DomainClaim): Promise<void> {
    const below = { instanceId, usernameDomain: caseFold(claimed.domain) };
    const [someone] = await db.read
      .select({ id: t.id })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.usernameDomain, below.usernameDomain)))
      .limit(1);
    if (someone === undefined) {
      // Most domains are nobody's name. Whoever comes before the unit commits makes it look again.
      tx.expectRows(users, below, 0);
      return;
    }
    const key = `${instanceId}/${claimed.domain}`;
    tx.write(enqueue(domainClaimed, { instanceId, id: newId(), now: tx.now, key }, claimed));
  }

  return async (
    tx: Transaction,
    instanceId: string,
    loaded: Loaded<Organization | undefined>,
    happened: OrganizationEvent[],
    owner?: OwnerRef,
  ): Promise<void> => {
    tx.record(organization, loaded, happened, owner);
    for (const { type, payload } of happened) {
      if (type !== "org.domain.verified") continue;
      const { domain } = payload;
      const own = { organizationId: loaded.id, domain, domainId: domainIdOf(payload), after: "" };
      await claim(tx, instanceId, own);
    }
  };
}
