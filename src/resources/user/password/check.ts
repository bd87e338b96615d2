import type { WriteContext } from "../../../eventstore/transaction.ts";
import type { Deps } from "../../../projection/module.ts";
import { passwordPolicyReader } from "../../../settings/password/index.ts";
import { putRow } from "../../../storage/row-change.ts";
import type { AuthenticatorReader } from "../authenticator/queries.ts";
import { type Attempts, userChecks } from "../check/attempts.ts";
import { type CheckEvent, checkEvents } from "../check/events.ts";
import type { PasswordStore, StoredPassword } from "./stored.ts";

/** `changeRequired`: right, but the user must choose another one before he goes on. */
export type PasswordOutcome = { isRight: false } | { isRight: true; changeRequired: boolean };

/**
 * Checks the password of a user, for every way in. Whatever is wrong (no such user, no password, a user who is not
 * active or has to wait, another password) gets the same answer in the same time (abuse cases D49, D51).
 *
 * A hash that was imported or is weaker than ours is made anew by the way.
 * @param userId undefined where nobody was found by the name
 * @throws UNAVAILABLE PASSWORD_HASHING_BUSY
 */
export type PasswordCheck = (
  at: WriteContext,
  userId: string | undefined,
  password: string,
) => Promise<PasswordOutcome>;

const nobody = "";

export function createPasswordCheck(
  deps: Deps,
  parts: { attempts: Attempts; passwords: PasswordStore; authenticators: AuthenticatorReader },
): PasswordCheck {
  const { attempts, passwords, authenticators } = parts;
  const policyOf = passwordPolicyReader(deps.db);

  // What a wrong password costs: a hash, and a flush of the store.
  async function spend(at: WriteContext, password: string): Promise<PasswordOutcome> {
    const { instanceId } = at;
    await passwords.spend(instanceId, password);
    const never = new Date(0);
    const row = putRow(userChecks, {
      instanceId,
      userId: nobody,
      version: 0n,
      passwordFailures: 0,
      passwordFailedAt: never,
      factorFailures: 0,
      factorFailedAt: never,
      totpStep: 0n,
    });
    await deps.db.commit({ instanceId, expect: [], claims: [], events: [], changes: [row] });
    return { isRight: false };
  }

  return async (at, userId, password) => {
    if (userId === undefined) return spend(at, password);
    const { instanceId } = at;
    const ref = { instanceId, userId };
    // A decision that is taken anew needs the hash no second time.
    const verify = remembered((stored) => passwords.verify(instanceId, password, stored));
    const renew = remembered(() => passwords.hash(instanceId, password));

    const judgement = await attempts.judge(at, userId, "password", async (tx, { organizationId }) => {
      const [held] = await authenticators.ofKind(ref, "password");
      const stored = await passwords.read(ref);
      if (stored === undefined || held === undefined) return undefined;
      const verdict = await verify(stored);
      if (verdict === "wrong") {
        return { isRight: false as const, happened: [checkEvents["human.password.check.failed"]({})] };
      }
      const happened: CheckEvent[] = [checkEvents["human.password.check.succeeded"]({})];
      if (verdict === "outdated") {
        tx.write(await passwords.put(ref, await renew(stored), tx.now));
        happened.push(checkEvents["human.password.hash.updated"]({}));
      }
      const { maxAgeMs } = await policyOf(instanceId, organizationId);
      const ageMs = tx.now.getTime() - held.changeDate.getTime();
      const changeRequired = held.isMarked || (maxAgeMs > 0 && ageMs > maxAgeMs);
      return { isRight: true as const, happened, changeRequired };
    });
    if (judgement === undefined) return spend(at, password);
    return judgement.isRight
      ? { isRight: true, changeRequired: judgement.changeRequired }
      : { isRight: false };
  };
}

/** Does it once for each stored password, by its text. */
function remembered<T>(make: (stored: StoredPassword) => Promise<T>) {
  const made = new Map<string, Promise<T>>();
  return (stored: StoredPassword): Promise<T> => {
    const key = JSON.stringify(stored);
    const known = made.get(key) ?? make(stored);
    made.set(key, known);
    return known;
  };
}
