import { eq } from "../../storage/drizzle.ts";
import type { InstanceReader } from "../../authz/ports.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { instanceDomains } from "./projection.ts";

// Domains belong to the system, not to one instance: any instance's commit on this table counts.
export function instanceReader(db: Database): InstanceReader {
  const t = db.table(instanceDomains);
  const read = cachedRead(db, [instanceDomains], async (_, domain) => {
    const [row] = await db.read
      .select({ id: t.instanceId })
      .from(t)
      .where(eq(t.domain, domain))
      .limit(1);
    return row;
  });
  return { byDomain: (domain) => read("", domain) };
}

/** Whether the store holds an instance at all. */
export async function hasInstance(db: Database): Promise<boolean> {
  const t = db.table(instanceDomains);
  return (await db.read.select({ id: t.instanceId }).from(t).limit(1)).length > 0;
}
