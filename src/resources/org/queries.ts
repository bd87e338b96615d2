import { and, eq } from "drizzle-orm";
import type { OrganizationReader } from "../../authz/ports.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { organizationDomains, organizations } from "./projection.ts";

export function organizationReader(db: Database): OrganizationReader {
  const t = db.table(organizations);
  const d = db.table(organizationDomains);
  return {
    byId: cachedRead(db, [organizations], async (instanceId, id) => {
      const [row] = await db.read
        .select({ id: t.id, state: t.state })
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
      return row;
    }),
    byDomain: cachedRead(db, [organizations, organizationDomains], async (instanceId, domain) => {
      const [row] = await db.read
        .select({ id: d.organizationId })
        .from(d)
        .where(and(eq(d.instanceId, instanceId), eq(d.domain, domain), eq(d.isVerified, true)));
      return row;
    }),
  };
}
