import { randomInt } from "node:crypto";
import { invalidField } from "../../errors.ts";
import type { SecretStore } from "../../eventstore/secret-store.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { and, eq } from "../../storage/drizzle.ts";
import { deleteRows, putRow, type RowChange, updateRows } from "../../storage/row-change.ts";
import { instant, int, table, text } from "../../storage/table.ts";

/**
 * Codes that are sent to people and count once (decisions C6, C7): only their keyed digest is kept, and with it how
 * often a wrong one was tried. `subject` is what the code is about, for example the address it proves.
 */
export const oneTimeCodes = table(
  "one_time_codes",
  {
    instanceId: text(),
    userId: text(),
    kind: text(),
    subject: text(),
    digest: text(),
    attempts: int(),
    createdAt: instant(),
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "userId", "kind"],
    indexes: [{ columns: ["expiresAt"] }],
  },
);

const mostAttempts = 10;
// No letters and digits that look alike, and no vowels, so that no code is a word.
const letters = "BCDFGHJKLMNPQRSTVWXZ23456789";
const digits = "0123456789";

/** What a code is for, and how it looks. */
export type CodeKind = { name: string; lifeMs: number; length: number; alphabet: string };

const minute = 60_000;
export const emailVerification: CodeKind = {
  name: "email.verification",
  lifeMs: 60 * minute,
  length: 8,
  alphabet: letters,
};
export const phoneVerification: CodeKind = {
  name: "phone.verification",
  lifeMs: 10 * minute,
  length: 8,
  alphabet: digits,
};
export const passwordReset: CodeKind = {
  name: "password.reset",
  lifeMs: 60 * minute,
  length: 10,
  alphabet: letters,
};
export const passkeyRegistration: CodeKind = {
  name: "passwordless.registration",
  lifeMs: 60 * minute,
  length: 12,
  alphabet: letters,
};
export type OtpChannel = "sms" | "email";
/** What proves a phone number or an e-mail address that is to get one-time passwords. */
export const otpRegistration = (channel: OtpChannel): CodeKind => ({
  name: `otp.${channel}.registration`,
  lifeMs: 10 * minute,
  length: 8,
  alphabet: digits,
});
export const otpLogin = (channel: OtpChannel): CodeKind => ({
  name: `otp.${channel}`,
  lifeMs: 5 * minute,
  length: 8,
  alphabet: digits,
});

type UserRef = { instanceId: string; userId: string };

export type Codes = {
  /** Makes a code in the place of the one before. */
  issue(tx: Transaction, user: UserRef, kind: CodeKind, subject: string): Promise<string>;
  /**
   * Spends a code: it counts once, for the subject it was made for, until it expires or was missed ten times. A wrong
   * one is counted by the same unit, so the caller must let the unit commit before he refuses.
   */
  spend(
    tx: Transaction,
    user: UserRef,
    kind: CodeKind,
    tried: { code: string; subject: string },
  ): Promise<boolean>;
  /** Everything a user has: it goes with him. */
  removeAll(user: UserRef): RowChange;
};

export function createCodes(db: Database, secrets: SecretStore): Codes {
  const t = db.table(oneTimeCodes);
  const place = ({ instanceId, userId }: UserRef, { name }: CodeKind) => ({
    instanceId,
    userId,
    kind: name,
  });

  return {
    async issue(tx, user, kind, subject) {
      const code = newCode(kind);
      const { now } = tx;
      tx.write(
        putRow(oneTimeCodes, {
          ...place(user, kind),
          subject,
          digest: await secrets.digest(user.instanceId, `${kind.name}:${code}`),
          attempts: 0,
          createdAt: now,
          expiresAt: new Date(now.getTime() + kind.lifeMs),
        }),
      );
      return code;
    },

    async spend(tx, user, kind, { code, subject }) {
      const where = place(user, kind);
      const [row] = await db.read
        .select()
        .from(t)
        .where(
          and(
            eq(t.instanceId, where.instanceId),
            eq(t.userId, where.userId),
            eq(t.kind, where.kind),
          ),
        );
      if (row === undefined || row.expiresAt <= tx.now || row.attempts >= mostAttempts)
        return false;
      // Who tries at the same time is decided anew after this unit: no try goes uncounted, no code counts twice.
      const { attempts, digest } = row;
      tx.expectRows(oneTimeCodes, { ...where, attempts, digest }, 1);
      const given = `${kind.name}:${code.trim().toUpperCase()}`;
      const isRight =
        row.subject === subject && digest === (await secrets.digest(user.instanceId, given));
      tx.write(
        isRight
          ? deleteRows(oneTimeCodes, where)
          : updateRows(oneTimeCodes, where, { attempts: attempts + 1 }),
      );
      return isRight;
    },

    removeAll: ({ instanceId, userId }) => deleteRows(oneTimeCodes, { instanceId, userId }),
  };
}

function newCode({ length, alphabet }: CodeKind): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join("");
}

/** The one answer to a code that does not hold, whatever the cause. */
export const codeInvalid = (field: string) =>
  invalidField(
    field,
    "CODE_INVALID",
    "the code is wrong, expired or spent: ask for another one and try again",
  );
