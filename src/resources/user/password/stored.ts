import { verifyImportedHash } from "../../../crypto/imported-hash.ts";
import {
  hashPassword,
  type PasswordHash,
  type PasswordVerdict,
  spendPasswordCheck,
  verifyPassword,
} from "../../../crypto/password-hash.ts";
import type { SecretStore } from "../../../eventstore/secret-store.ts";
import type { RowChange } from "../../../storage/row-change.ts";
import { secretsOfUsers, type UserRef } from "../user-ref.ts";

/** What is kept of a password, sealed: a hash of our own, or one that another system made. */
export type StoredPassword = PasswordHash | { imported: string };

export type PasswordStore = ReturnType<typeof createPasswordStore>;

const ref = secretsOfUsers("password");

export function createPasswordStore(secrets: SecretStore) {
  async function pepper(instanceId: string) {
    const { id: keyId, key } = await secrets.pepper(instanceId);
    return { keyId, key };
  }

  return {
    /** `source` is whose request it is: sources take turns. */
    hash: async (instanceId: string, password: string, source?: string): Promise<StoredPassword> =>
      hashPassword(password, await pepper(instanceId), source),
    /** The row that keeps it, in the place of the one before. */
    put: (user: UserRef, stored: StoredPassword, createdAt: Date): Promise<RowChange> =>
      secrets.put(ref(user), Buffer.from(JSON.stringify(stored)), createdAt),
    async read(user: UserRef): Promise<StoredPassword | undefined> {
      const bytes = await secrets.open(ref(user));
      return bytes === undefined ? undefined : JSON.parse(Buffer.from(bytes).toString("utf8"));
    },
    /** A right password whose hash was imported is outdated. */
    async verify(
      instanceId: string,
      password: string,
      stored: StoredPassword,
      source?: string,
    ): Promise<PasswordVerdict> {
      if ("imported" in stored) {
        return (await verifyImportedHash(password, stored.imported, source)) ? "outdated" : "wrong";
      }
      return verifyPassword(password, stored, [await pepper(instanceId)], source);
    },
    /** Takes as long as a wrong password. */
    async spend(instanceId: string, password: string, source?: string): Promise<void> {
      await spendPasswordCheck(password, await pepper(instanceId), source);
    },
    remove: (user: UserRef): RowChange => secrets.remove(ref(user)),
  };
}

/** The row that holds a new password: an argon2id hash, peppered, sealed with the key of the instance. */
export async function passwordSecret(
  secrets: SecretStore,
  user: UserRef,
  password: string,
  createdAt: Date,
): Promise<RowChange> {
  const passwords = createPasswordStore(secrets);
  return passwords.put(user, await passwords.hash(user.instanceId, password), createdAt);
}
