import type { TokenUseReader } from "../../resources/consent/index.ts";
import { and, desc, eq, sql } from "../../storage/drizzle.ts";
import { accessTokens, oidcSessions } from "./tables.ts";

/** What of what was issued to a client for a user has not ended. */
export const tokenUse: TokenUseReader = (db) => {
  const s = db.table(oidcSessions);
  const a = db.table(accessTokens);
  return async (instanceId, userId, clientId) => {
    const [sessions] = await db.read
      .select({ count: sql<string | number>`count(*)` })
      .from(s)
      .where(and(eq(s.instanceId, instanceId), eq(s.userId, userId), eq(s.clientId, clientId)));
    const [last] = await db.read
      .select({ issuedAt: a.issuedAt })
      .from(a)
      .innerJoin(s, and(eq(s.instanceId, a.instanceId), eq(s.id, a.oidcSessionId)))
      .where(and(eq(s.instanceId, instanceId), eq(s.userId, userId), eq(s.clientId, clientId)))
      .orderBy(desc(a.issuedAt))
      .limit(1);
    return { families: Number(sessions?.count), lastUsed: last?.issuedAt };
  };
};
