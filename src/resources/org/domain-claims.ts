import { decideOn, type Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { equals, rowsWhere } from "../../projection/rows.ts";
import { and, asc, ne } from "../../storage/drizzle.ts";
import { instance } from "../instance/index.ts";
import { domainTaken, generatedDomain } from "./org.ts";
import {
  type Organization,
  organization,
  organizationDomains,
  type OrganizationEvent,
  organizationEvents,
} from "./organization.ts";

/** Who else has a domain that counts without a proof; who had it first comes first. */
export function unprovenHolders(db: Database) {
  const d = db.table(organizationDomains);
  return (instanceId: string, domain: string, organizationId: string, limit: number) =>
    db.read
      .select({ organizationId: d.organizationId })
      .from(d)
      .where(
        and(
          equals(db, organizationDomains, {
            instanceId,
            domain,
            isVerified: true,
            isProven: false,
          }),
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
  return async (
    tx: Transaction,
    instanceId: string,
    { domain, organizationId }: { domain: string; organizationId: string },
    limit: number,
  ): Promise<number> => {
    const rows = await others(instanceId, domain, organizationId, limit);
    const below = (await tx.load(instance, instanceId)).state?.primaryDomain ?? "";
    for (const row of rows) {
      const id = row.organizationId;
      await decideOn(tx, organization, id, (state) =>
        lose({ id, state }, domain, { below, domainId: newId() }),
      );
    }
    return rows.length;
  };
}

function lose(
  { id, state }: { id: string; state: Organization | undefined },
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
  return async (tx: Transaction, instanceId: string, domain: string): Promise<void> => {
    const proven = { instanceId, domain, isProven: true };
    const [holder] = await rowsWhere(db, organizationDomains, proven);
    if (holder !== undefined) throw domainTaken();
    tx.expectRows(organizationDomains, proven, 0);
  };
}
