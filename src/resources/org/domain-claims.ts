import type { OwnerRef } from "../../eventstore/event.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { enqueue, jobKind } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import { caseFold } from "../../storage/case-fold.ts";
import type { Database } from "../../storage/database.ts";
import { and, asc, eq, ne } from "../../storage/drizzle.ts";
import { instance } from "../instance/index.ts";
import { users } from "../user/index.ts";
import { domainIdOf, isProof, type OrganizationEvent, organizationEvents } from "./events.ts";
import { domainTaken, generatedDomain, type Organization, organization } from "./org.ts";
import { organizationDomains } from "./projection.ts";

/** A domain that an organization has proven. */
export type DomainClaim = {
  organizationId: string;
  domain: string;
  domainId: string;
  /** The id of the last user who was looked at. */
  after: string;
};

/**
 * The job that follows the proof of a domain, in the unit that records it: other organizations that claim it without a proof
 * lose it, and users elsewhere whose usernames end in it get other names and are told. Claims of one domain are worked on one
 * after the other.
 */
export const domainClaimed = jobKind<DomainClaim>("domain.claimed");

/**
 * Records what happened to an organization. Every `org.domain.verified` goes this way, but those of a new instance, which
 * has no users yet.
 */
export function organizationRecorder({ db, newId }: Pick<Deps, "db" | "newId">) {
  const t = db.table(users);
  const others = unprovenHolders(db);

  async function claim(tx: Transaction, instanceId: string, claimed: DomainClaim): Promise<void> {
    const { domain, organizationId } = claimed;
    const below = { instanceId, usernameDomain: caseFold(domain) };
    const [someone] = await db.read
      .select({ id: t.id })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.usernameDomain, below.usernameDomain)))
      .limit(1);
    const [holder] = await others(instanceId, domain, organizationId, 1);
    if (someone === undefined && holder === undefined) {
      // Most domains are nobody's name. Whoever comes before the unit commits makes it look again.
      tx.expectRows(users, below, 0);
      return;
    }
    const key = `${instanceId}/${domain}`;
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
      if (type !== "org.domain.verified" || !isProof(payload.proof)) continue;
      const { domain } = payload;
      const own = { organizationId: loaded.id, domain, domainId: domainIdOf(payload), after: "" };
      await claim(tx, instanceId, own);
    }
  };
}

/** Who else has a domain that counts without a proof; who had it first comes first. */
function unprovenHolders(db: Database) {
  const d = db.table(organizationDomains);
  return (instanceId: string, domain: string, organizationId: string, limit: number) =>
    db.read
      .select({ organizationId: d.organizationId })
      .from(d)
      .where(
        and(
          eq(d.instanceId, instanceId),
          eq(d.domain, domain),
          eq(d.isVerified, true),
          eq(d.isProven, false),
          ne(d.organizationId, organizationId),
        ),
      )
      .orderBy(asc(d.verifiedAt))
      .limit(limit);
}

/**
 * Takes a domain from organizations that have it without a proof, for the one that has proven it; a primary one makes place
 * for another. Answers how many there were, at most `limit`.
 */
export function domainTaker({ db, newId }: Pick<Deps, "db" | "newId">) {
  const others = unprovenHolders(db);
  const recordAll = organizationRecorder({ db, newId });
  return async (
    tx: Transaction,
    instanceId: string,
    { domain, organizationId }: Pick<DomainClaim, "domain" | "organizationId">,
    limit: number,
  ): Promise<number> => {
    const rows = await others(instanceId, domain, organizationId, limit);
    const below = (await tx.load(instance, instanceId)).state?.primaryDomain ?? "";
    for (const row of rows) {
      const loaded = await tx.load(organization, row.organizationId);
      await recordAll(tx, instanceId, loaded, lose(loaded, domain, { below, domainId: newId() }));
    }
    return rows.length;
  };
}

function lose(
  { id, state }: Loaded<Organization | undefined>,
  domain: string,
  { below, domainId }: { below: string; domainId: string },
): OrganizationEvent[] {
  const lost = state?.domains.find(({ name }) => name === domain);
  if (state === undefined || lost === undefined || !lost.isVerified || lost.isProven) return [];
  const claimed = organizationEvents["domain.claimed"]({ domain, domainId: lost.id });
  if (state.primaryDomain !== domain) return [claimed];
  const left = state.domains.find(({ name, isProven }) => name !== domain && isProven);
  if (left !== undefined) {
    const next = { domain: left.name, domainId: left.id };
    return [claimed, organizationEvents["domain.primary.set"](next)];
  }
  const made = { domain: generatedDomain(state.name, below, `-${id}`), domainId };
  return [
    claimed,
    organizationEvents["domain.added"](made),
    organizationEvents["domain.verified"]({ ...made, proof: "generated" }),
    organizationEvents["domain.primary.set"](made),
  ];
}

/**
 * Refuses a domain without a proof where another organization has proven it, also one that does so meanwhile. Who claims it
 * without a proof is nobody's business (J10).
 *
 * @throws ALREADY_EXISTS ORGANIZATION_DOMAIN_TAKEN
 */
export function requireUnproven(db: Database) {
  const d = db.table(organizationDomains);
  return async (tx: Transaction, instanceId: string, domain: string): Promise<void> => {
    const proven = { instanceId, domain, isProven: true };
    const [holder] = await db.read
      .select({ organizationId: d.organizationId })
      .from(d)
      .where(and(eq(d.instanceId, instanceId), eq(d.domain, domain), eq(d.isProven, true)))
      .limit(1);
    if (holder !== undefined) throw domainTaken();
    tx.expectRows(organizationDomains, proven, 0);
  };
}
