import { isOneOf } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { users } from "./projection.ts";

/** The organizations that users belong to, by the ids of those who are there. */
export type HomesReader = (
  instanceId: string,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, string>>;

export function homesReader(db: Database): HomesReader {
  const t = db.table(users);
  return async (instanceId, ids) => {
    if (ids.length === 0) return new Map();
    const rows = await db.read
      .select({ id: t.id, organizationId: t.organizationId })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), isOneOf(t.id, ids)));
    return new Map(rows.map(({ id, organizationId }) => [id, organizationId]));
  };
}
