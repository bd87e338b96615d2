import type { Database } from "../../../storage/database.ts";
import { and, type Column, eq, type SQL } from "../../../storage/drizzle.ts";
import { countIds, type SomeIds } from "../../../projection/ids.ts";
import { userAuthenticators } from "./projection.ts";

/** How many users of some organizations are linked to an identity provider, and the ids of some. */
export function usersLinkedTo(
  db: Database,
  instanceId: string,
  idpId: string,
  within: (organizationId: Column) => SQL | undefined,
  limit: number,
): Promise<SomeIds> {
  const t = db.table(userAuthenticators);
  const where = and(
    eq(t.instanceId, instanceId),
    eq(t.kind, "idp"),
    eq(t.id, idpId),
    within(t.organizationId),
  );
  return countIds(db, userAuthenticators, where, limit, "userId");
}
