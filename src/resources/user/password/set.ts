import type { UserDeps } from "../ports.ts";
import type { SetPassword } from "#gen/idsvc/resources/user/v3alpha/authenticator_pb.ts";
import { checkImportedHash } from "../../../crypto/imported-hash.ts";
import type { Loaded } from "../../../eventstore/eventstore.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import type { PasswordPolicyReader } from "../../../settings/password/index.ts";
import type { Attempts } from "../check/attempts.ts";
import { changePassword, type User, user, userNotFound } from "../user.ts";
import { requirePolicy } from "./policy.ts";
import type { PasswordStore, StoredPassword } from "./stored.ts";

export type PasswordSetting = {
  /** @throws INVALID_ARGUMENT PASSWORD_POLICY, and what `checkImportedHash` refuses */
  check(state: User): Promise<void>;
  /** Sets it, and forgives wrong attempts at the one before. */
  set(tx: Transaction, loaded: Loaded<User | undefined>): Promise<void>;
};

type Parts = {
  deps: Pick<UserDeps, "isBreached">;
  passwords: PasswordStore;
  attempts: Attempts;
  policyOf: PasswordPolicyReader;
};

/** The fields of a message that sets a password. */
export const within = (field: string) => ({
  password: `${field}.password`,
  hash: `${field}.hash`,
});

/** A password to set, in clear or as another system's hash; it is hashed and screened once, however often the unit is tried. */
export function settingOf(
  { deps, passwords, attempts, policyOf }: Parts,
  instanceId: string,
  { type, changeRequired }: Pick<SetPassword, "type" | "changeRequired">,
  fields: { password: string; hash: string },
): PasswordSetting {
  let hashed: Promise<StoredPassword> | undefined;
  let breached: Promise<boolean> | undefined;
  const isBreached = (password: string) => (breached ??= deps.isBreached(password));

  async function stored(): Promise<StoredPassword> {
    if (type.case === "hash") return { imported: type.value };
    return passwords.hash(instanceId, type.value ?? "");
  }

  return {
    async check(state) {
      if (type.case === "hash") return checkImportedHash(type.value, fields.hash);
      const policy = await policyOf(instanceId, state.organizationId);
      await requirePolicy(policy, type.value ?? "", state, fields.password, isBreached);
    },
    async set(tx, loaded) {
      if (loaded.state === undefined) throw userNotFound();
      const at = { instanceId, userId: loaded.id };
      hashed ??= stored();
      tx.record(user, loaded, changePassword(loaded.state, changeRequired));
      tx.write(await passwords.put(at, await hashed, tx.now));
      // Nobody has tried the password of who is new.
      if (loaded.version > 0n) tx.write(...attempts.forgivePassword(at));
    },
  };
}
