import type { Database } from "../../../storage/database.ts";
import { and, asc, eq, inArray, sql } from "../../../storage/drizzle.ts";
import type { Row } from "../../../storage/table.ts";
import type { AuthenticatorKind } from "./authenticators.ts";
import { userAuthenticators } from "./projection.ts";

export type AuthenticatorRow = Row<typeof userAuthenticators>;
type UserRef = { instanceId: string; userId: string };

export type AuthenticatorReader = {
  ofKind(user: UserRef, kind: AuthenticatorKind): Promise<AuthenticatorRow[]>;
  /** What these users log in with, in one read; the oldest first. */
  ofUsers(instanceId: string, userIds: string[]): Promise<Map<string, AuthenticatorRow[]>>;
  byLookup(
    instanceId: string,
    kind: AuthenticatorKind,
    lookup: string,
  ): Promise<AuthenticatorRow | undefined>;
};

export function authenticatorReader(db: Database): AuthenticatorReader {
  const t = db.table(userAuthenticators);
  const ofOne = db.read
    .select()
    .from(t)
    .where(
      and(eq(t.instanceId, sql.placeholder("instanceId")), eq(t.userId, sql.placeholder("userId"))),
    )
    .orderBy(asc(t.creationDate), asc(t.id))
    .prepare("authenticators_of_user");

  return {
    ofKind: ({ instanceId, userId }, kind) =>
      db.read
        .select()
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.userId, userId), eq(t.kind, kind)))
        .orderBy(asc(t.creationDate), asc(t.id)),

    async ofUsers(instanceId, userIds) {
      const held = new Map<string, AuthenticatorRow[]>();
      const [userId] = userIds;
      if (userId === undefined) return held;
      const rows =
        userIds.length === 1
          ? await ofOne.execute({ instanceId, userId })
          : await db.read
              .select()
              .from(t)
              .where(and(eq(t.instanceId, instanceId), inArray(t.userId, userIds)))
              .orderBy(asc(t.creationDate), asc(t.id));
      for (const row of rows) held.set(row.userId, [...(held.get(row.userId) ?? []), row]);
      return held;
    },

    async byLookup(instanceId, kind, lookup) {
      const [row] = await db.read
        .select()
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.kind, kind), eq(t.lookup, lookup)));
      return row;
    },
  };
}
