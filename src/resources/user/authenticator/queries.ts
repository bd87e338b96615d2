import { frozen } from "../../../eventstore/frozen.ts";
import { rowWhere, rowsWhere } from "../../../projection/rows.ts";
import { currentRead } from "../../../storage/read-cache.ts";
import type { Database } from "../../../storage/database.ts";
import { and, asc, eq, parameter } from "../../../storage/drizzle.ts";
import type { Row } from "../../../storage/table.ts";
import type { AuthenticatorKind } from "./authenticators.ts";
import { userAuthenticators } from "./projection.ts";
import type { UserRef } from "../user-ref.ts";

export type AuthenticatorRow = Row<typeof userAuthenticators>;

export type AuthenticatorReader = ReturnType<typeof authenticatorReader>;

export function authenticatorReader(db: Database) {
  const t = db.table(userAuthenticators);
  const ofOne = db.read
    .select()
    .from(t)
    .where(and(eq(t.instanceId, parameter("instanceId")), eq(t.userId, parameter("userId"))))
    .orderBy(asc(t.creationDate), asc(t.id))
    .prepare("authenticators_of_user");

  const ofUser = currentRead(
    db,
    [userAuthenticators],
    async (instanceId, userId): Promise<readonly AuthenticatorRow[]> =>
      frozen(await ofOne.execute({ instanceId, userId })),
  );

  return {
    /** What a user logs in with, the oldest first; never older than the call, and frozen. */
    ofUser,
    async ofKind({ instanceId, userId }: UserRef, kind: AuthenticatorKind) {
      return (await ofUser(instanceId, userId)).filter((row) => row.kind === kind);
    },

    /** The same of many users, in one read. */
    async ofUsers(instanceId: string, userIds: string[]) {
      if (userIds.length === 0) return new Map<string, AuthenticatorRow[]>();
      const order = ["creationDate", "id"] as const;
      const rows = await rowsWhere(db, userAuthenticators, { instanceId, userId: userIds }, order);
      return Map.groupBy(rows, ({ userId }) => userId);
    },

    byLookup: (instanceId: string, kind: AuthenticatorKind, lookup: string) =>
      rowWhere(db, userAuthenticators, { instanceId, kind, lookup }),
  };
}
