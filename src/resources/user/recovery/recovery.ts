import { randomInt } from "node:crypto";
import type { SecretRef, SecretStore } from "../../../eventstore/secret-store.ts";
import { secrets as secretRows } from "../../../storage/kernel-tables.ts";
import { deleteRows, type RowChange } from "../../../storage/row-change.ts";
import { secretsOfUsers, type UserRef } from "../user-ref.ts";
import { authenticatorsOf } from "../authenticator/authenticators.ts";
import type { CodeCheck } from "../check/attempts.ts";
import { checkEvents } from "../check/events.ts";
import type { Credentials } from "../credentials.ts";

/** How many codes a user gets at once. */
export const recoveryCodeCount = 10;

const kind = "recovery_code";
const ref = secretsOfUsers(kind);
const length = 10;
// 31 letters and digits that do not look alike: 49 bits a code.
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";

const newCode = (): string => {
  const letters = Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length)));
  return `${letters.slice(0, length / 2).join("")}-${letters.slice(length / 2).join("")}`;
};

// A digest is found by what it is made of, so the user is part of it.
const spoken = (userId: string, code: string): string =>
  `${userId}:${code.replaceAll(/[-\s]/g, "").toLowerCase()}`;

export type RecoveryCodeStore = ReturnType<typeof createRecoveryCodeStore>;

export function createRecoveryCodeStore(secrets: SecretStore) {
  const keep = (user: UserRef, codes: readonly string[], createdAt: Date) => {
    const all = new Set(codes.map((code) => spoken(user.userId, code)));
    const changes = [...all].map((code, index) =>
      secrets.putDigest(ref(user, String(index + 1)), code, createdAt),
    );
    return Promise.all(changes);
  };
  return {
    /** The rows that recognise codes of another system; one for each that is another one without hyphens, spaces and case. */
    keep,
    /** New codes, and the rows that recognise them, in the place of those before. */
    async make(user: UserRef, createdAt: Date) {
      const codes = Array.from({ length: recoveryCodeCount }, newCode);
      return { codes, changes: await keep(user, codes, createdAt) };
    },
    async find(user: UserRef, code: string): Promise<SecretRef | undefined> {
      const found = await secrets.find(user.instanceId, kind, spoken(user.userId, code));
      return found?.ownerId === user.userId ? ref(user, found.id) : undefined;
    },
    remove(user: UserRef): RowChange {
      const { id: _, ...all } = ref(user);
      return deleteRows(secretRows, all);
    },
  };
}

/**
 * Spends a recovery code: each counts once. Wrong ones are counted with those of the user's other second factors; nobody,
 * and who has none, gets the answer of a wrong one.
 */
export const createRecoveryCodeCheck =
  ({ recoveryCodes, attempts, authenticators }: Credentials): CodeCheck =>
  (at, userId, code) =>
    attempts.isRight(at, userId, "factor", async (tx, state, row) => {
      if (authenticatorsOf(state.authenticators, "recovery_codes").length === 0) return undefined;
      const found = await recoveryCodes.find(row, code);
      if (found === undefined) {
        const failed = checkEvents["human.mfa.recovery_codes.check.failed"]({});
        return { isRight: false, happened: [failed] };
      }
      const [stored] = await authenticators.ofKind(row, "recovery_codes");
      const remaining = (stored?.number ?? 1) - 1;
      tx.expectRows(secretRows, found, 1);
      tx.write(deleteRows(secretRows, found));
      const succeeded = checkEvents["human.mfa.recovery_codes.check.succeeded"]({ remaining });
      return { isRight: true, happened: [succeeded] };
    });
