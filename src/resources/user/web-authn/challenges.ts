import { rowsWhere } from "../../../projection/rows.ts";
import { randomBytes } from "node:crypto";
import type { Transaction } from "../../../eventstore/transaction.ts";
import type { Database } from "../../../storage/database.ts";
import { deleteRows, insertRow, type RowChange } from "../../../storage/row-change.ts";
import { instant, table, text } from "../../../storage/table.ts";
import type { UserRef } from "../user-ref.ts";

/** Challenges of WebAuthn that wait for their answer; each counts once (C6). */
export const webAuthNChallenges = table(
  "web_authn_challenges",
  {
    instanceId: text(),
    userId: text(),
    /** Of a registration the id of the authenticator to be. */
    id: text(),
    purpose: text(),
    challenge: text(),
    /** The domain that the answer counts for. */
    domain: text(),
    userVerification: text(),
    expiresAt: instant(),
  },
  { key: ["instanceId", "userId", "id"], indexes: [{ columns: ["expiresAt"] }] },
);

export type UserVerification = "required" | "preferred" | "discouraged";
type Purpose = "registration" | "preparation" | "login";

const lifeMs = 10 * 60_000;
// So many ceremonies of a user can go on at once; one more ends the oldest.
const most = 10;

export type Challenges = ReturnType<typeof createChallenges>;

export function createChallenges(db: Database) {
  const ofUser = ({ instanceId, userId }: UserRef) =>
    rowsWhere(db, webAuthNChallenges, { instanceId, userId }, ["expiresAt", "id"]);

  return {
    /** Makes a challenge, which counts once, for ten minutes. */
    async open(
      tx: Transaction,
      { instanceId, userId }: UserRef,
      wanted: { id: string; purpose: Purpose; domain: string; userVerification: UserVerification },
    ): Promise<string> {
      const earlier = await ofUser({ instanceId, userId });
      const living = earlier.filter(({ expiresAt }) => expiresAt > tx.now);
      const remaining = new Set(living.slice(-most + 1));
      for (const row of earlier) {
        const { id } = row;
        if (!remaining.has(row))
          tx.write(deleteRows(webAuthNChallenges, { instanceId, userId, id }));
      }
      const challenge = randomBytes(32).toString("base64url");
      const expiresAt = new Date(tx.now.getTime() + lifeMs);
      tx.write(
        insertRow(webAuthNChallenges, { instanceId, userId, ...wanted, challenge, expiresAt }),
      );
      return challenge;
    },

    /** Spends a challenge; undefined where there is none, or no more. */
    async take(
      tx: Transaction,
      { instanceId, userId }: UserRef,
      { id, purpose }: { id: string; purpose: Purpose },
    ) {
      const all = await ofUser({ instanceId, userId });
      const row = all.find((one) => one.id === id && one.purpose === purpose);
      if (row === undefined || row.expiresAt <= tx.now) return undefined;
      const { challenge } = row;
      tx.expectRows(webAuthNChallenges, { instanceId, userId, id, challenge }, 1);
      tx.write(deleteRows(webAuthNChallenges, { instanceId, userId, id }));
      return row;
    },

    /** Everything a user has: it goes with them. */
    removeAll: ({ instanceId, userId }: UserRef): RowChange =>
      deleteRows(webAuthNChallenges, { instanceId, userId }),
  };
}
