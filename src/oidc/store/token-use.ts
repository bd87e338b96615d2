import { columnsWhere, isOneOf } from "../../projection/rows.ts";
import type { EndKept } from "../../resources/session/index.ts";
import type { Database } from "../../storage/database.ts";
import { and, desc, eq, sql } from "../../storage/drizzle.ts";
import { oidcSession } from "./events.ts";
import { terminate } from "./sessions.ts";
import { accessTokens, oidcSessions } from "./tables.ts";

/** What of what was issued to a client for a user has not ended. */
export const tokenUse = (db: Database) => {
  const s = db.table(oidcSessions);
  const a = db.table(accessTokens);
  return async (instanceId: string, userId: string, clientId: string) => {
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

/** Which apps hold how many families of tokens of sessions. */
export const signedInApps = (db: Database) => {
  const s = db.table(oidcSessions);
  return async (instanceId: string, sessionIds: readonly string[]) => {
    const rows = await db.read
      .select({
        sessionId: s.sessionId,
        clientId: s.clientId,
        families: sql<string | number>`count(*)`,
      })
      .from(s)
      .where(and(eq(s.instanceId, instanceId), isOneOf(s.sessionId, sessionIds)))
      .groupBy(s.sessionId, s.clientId);
    return rows.map((row) => ({ ...row, families: Number(row.families) }));
  };
};

// Streams that one unit ends: few enough that others need not wait for it.
const atOnce = 20;

/** Ends what apps got of log-ins of a user, but for that of sessions that stay. */
export const endKept: EndKept = async ({ db, events }, at, { userId, staying }) => {
  const logIns = { instanceId: at.instanceId, userId, isLogin: true };
  const rows = await columnsWhere(db, oidcSessions, ["id", "sessionId"], logIns);
  const ending = rows.filter(({ sessionId }) => !staying.has(sessionId));
  for (let from = 0; from < ending.length; from += atOnce) {
    await events.transact(at, async (tx) => {
      for (const { id } of ending.slice(from, from + atOnce)) {
        const loaded = await tx.load(oidcSession, id);
        tx.record(oidcSession, loaded, terminate(loaded.state.isOpen, "revoked"));
      }
    });
  }
};
