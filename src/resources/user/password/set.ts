import type { SetPassword } from "#gen/idsvc/resources/user/v3alpha/authenticator_pb.ts";
import { checkImportedHash } from "../../../crypto/imported-hash.ts";
import type { UserInUnit } from "../change.ts";
import type { Credentials } from "../credentials.ts";
import { changePassword, type User } from "../user.ts";
import { requirePolicy } from "./policy.ts";
import type { StoredPassword } from "./stored.ts";

export type PasswordSetting = {
  /** @throws INVALID_ARGUMENT PASSWORD_POLICY, and what `checkImportedHash` refuses */
  check(state: User): Promise<void>;
  /** Sets it, and forgives wrong attempts at the one before. */
  set(one: UserInUnit): Promise<void>;
};

/** The fields of a message that sets a password. */
export const within = (field: string) => ({
  password: `${field}.password`,
  hash: `${field}.hash`,
});

/** A password to set, in clear or as another system's hash; it is hashed and screened once, however often the unit is tried. */
export function settingOf(
  { deps, passwords, attempts, policyOf }: Credentials,
  instanceId: string,
  { type, changeRequired }: Pick<SetPassword, "type" | "changeRequired">,
  fields: { password: string; hash: string },
): PasswordSetting {
  let hashed: Promise<StoredPassword> | undefined;
  let breached: Promise<boolean> | undefined;
  const isBreached = (password: string) => (breached ??= deps.isBreached(password));

  const stored = async (): Promise<StoredPassword> =>
    type.case === "hash" ? { imported: type.value } : passwords.hash(instanceId, type.value ?? "");

  return {
    async check(state) {
      if (type.case === "hash") return checkImportedHash(type.value, fields.hash);
      const policy = await policyOf(instanceId, state.organizationId);
      await requirePolicy(policy, type.value ?? "", state, fields.password, isBreached);
    },
    async set({ tx, ref, loaded, record }) {
      hashed ??= stored();
      record(changePassword(loaded.state, changeRequired));
      tx.write(await passwords.put(ref, await hashed, tx.now));
      // Nobody has tried the password of who is new.
      if (loaded.version > 0n) tx.write(...attempts.forgivePassword(ref));
    },
  };
}
