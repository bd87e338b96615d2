import type { WriteContext } from "../../../eventstore/transaction.ts";
import { type CheckEvent, checkEvents } from "../check/events.ts";
import type { Credentials } from "../credentials.ts";
import type { StoredPassword } from "./stored.ts";

/** `changeRequired`: right, but the user must choose another one before they go on. */
export type PasswordOutcome = { isRight: false } | { isRight: true; changeRequired: boolean };

/**
 * Checks the password of a user, for every way in. Whatever is wrong (no such user, no password, a user who is not
 * active or has to wait, another password) gets the same answer in the same time (D49, D51).
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

export function createPasswordCheck({
  deps,
  attempts,
  passwords,
  authenticators,
  policyOf,
}: Omit<Credentials, "checkPassword">): PasswordCheck {
  return async (at, userId, password) => {
    const { instanceId, source } = at;
    // A decision that is taken anew needs the hash no second time.
    const verify = remembered((stored) => passwords.verify(instanceId, password, stored, source));
    const renew = remembered(() => passwords.hash(instanceId, password, source));

    const judgement = await attempts.judge(at, userId, "password", async (tx, state, row) => {
      const ref = { instanceId, userId: row.userId };
      const [authenticator] = await authenticators.ofKind(ref, "password");
      const stored = await passwords.read(ref);
      if (stored === undefined || authenticator === undefined) return undefined;
      const verdict = await verify(stored);
      if (verdict === "wrong") {
        return {
          isRight: false as const,
          happened: [checkEvents["human.password.check.failed"]({})],
        };
      }
      const happened: CheckEvent[] = [checkEvents["human.password.check.succeeded"]({})];
      if (verdict === "outdated") {
        tx.write(await passwords.put(ref, await renew(stored), tx.now));
        happened.push(checkEvents["human.password.hash.updated"]({}));
      }
      const { maxAgeMs, screenAtLogin } = await policyOf(instanceId, state.organizationId);
      const ageMs = tx.now.getTime() - authenticator.changeDate.getTime();
      const changeRequired = authenticator.isMarked || (maxAgeMs > 0 && ageMs > maxAgeMs);
      return { isRight: true as const, happened, changeRequired, screenAtLogin };
    });
    if (judgement === undefined) {
      // As long as a wrong one takes.
      await passwords.spend(instanceId, password, source);
      return { isRight: false };
    }
    if (!judgement.isRight) return { isRight: false };
    const { changeRequired, screenAtLogin } = judgement;
    // Only of a right one: of others nothing is asked outside.
    const isBreached = !changeRequired && screenAtLogin && (await deps.isBreached(password));
    return { isRight: true, changeRequired: changeRequired || isBreached };
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
