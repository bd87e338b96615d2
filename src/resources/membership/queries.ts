import { and, eq } from "drizzle-orm";
import type { Membership } from "../../authz/permissions.ts";
import type { MembershipReader } from "../../authz/ports.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import { memberships } from "./projection.ts";

const contextTypes: ReadonlyMap<string, Membership["contextType"]> = new Map([
  ["system", "system"],
  ["instance", "instance"],
  ["organization", "organization"],
  ["project", "project"],
  ["projectGrant", "projectGrant"],
]);

/** The memberships of a user, never older than the last write that changed any (decisions B7). */
export function membershipReader(db: Database): MembershipReader {
  const t = db.table(memberships);
  return {
    ofUser: cachedRead(db, [memberships], async (instanceId, userId) => {
      const rows = await db.read
        .select()
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.userId, userId)));
      return rows.flatMap(({ contextType, contextId, roles }) => {
        const type = contextTypes.get(contextType);
        return type === undefined ? [] : [{ contextType: type, contextId, roles }];
      });
    }),
  };
}
