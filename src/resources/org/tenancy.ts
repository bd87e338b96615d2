import type { OrganizationReader } from "../../authz/ports.ts";
import { createTenancy, type Tenancy } from "../../authz/tenancy.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { hasRow } from "../../projection/rows.ts";
import { eq, not } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { ownProjectReader } from "../instance/index.ts";
import { leavingOrganizations, organization, organizationNotFound } from "./organization.ts";

/** Who may see and do what to objects of organizations, for all slices. */
export function organizationTenancy(
  db: Database,
  organizations: Pick<OrganizationReader, "byId">,
): Tenancy {
  const leaving = db.table(leavingOrganizations);
  const someLeave = cachedRead(db, [leavingOrganizations], async (instanceId) => {
    const one = db.read.select().from(leaving).where(eq(leaving.instanceId, instanceId)).limit(1);
    return (await one).length > 0;
  });
  return createTenancy({
    organizations,
    ownProject: ownProjectReader(db),
    requireOrganization,
    async keepLiving(instanceId, organizationId) {
      if (!(await someLeave(instanceId, ""))) return undefined;
      return not(hasRow(db, leavingOrganizations, { instanceId, organizationId }));
    },
  });
}

/**
 * Makes sure that the organization is still there when the unit commits: what is created in it cannot outlive it.
 *
 * @throws NOT_FOUND ORGANIZATION_NOT_FOUND
 */
export async function requireOrganization(tx: Transaction, organizationId: string): Promise<void> {
  const { state } = await tx.load(organization, organizationId);
  if (state === undefined) throw organizationNotFound();
}
