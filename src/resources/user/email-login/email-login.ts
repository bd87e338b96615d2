import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import type { LoginPolicyReader } from "../../../settings/login/index.ts";
import type { Attempts } from "../check/attempts.ts";
import { checkEvents } from "../check/events.ts";
import { emailLogin } from "../code-kinds.ts";
import type { Codes, Delivery } from "../codes.ts";
import type { IssuedOtp } from "../otp/otp.ts";
import { requireUser, type User } from "../user.ts";

export type EmailLoginChecks = {
  /**
   * Makes a code for one log-in, named by an id: it counts there alone, for ten minutes. Codes of other log-ins of the user stay,
   * so that nobody who asks for one makes that of somebody else count no more.
   *
   * @returns undefined where the user has proven no address, or the settings let nobody log in this way
   * @throws NOT_FOUND USER_NOT_FOUND
   */
  issue(
    tx: Transaction,
    user: { instanceId: string; userId: string },
    loginId: string,
    delivery: Delivery,
  ): Promise<IssuedOtp | undefined>;
  /**
   * Spends the code of a log-in. Wrong ones are counted with wrong passwords; nobody, and whoever has no such code, gets the
   * answer of a wrong one.
   */
  check(
    at: WriteContext,
    userId: string | undefined,
    tried: { loginId: string; code: string },
  ): Promise<boolean>;
};

/** Log-ins by a code that is sent to the address of the user, in the place of a password (L9). */
export function createEmailLoginChecks(
  codes: Codes,
  attempts: Attempts,
  policyOf: LoginPolicyReader,
): EmailLoginChecks {
  /** Where the code goes: an address that nobody has proven counts for nothing (J9). */
  async function addressOf(instanceId: string, state: User): Promise<string | undefined> {
    const { firstFactors } = await policyOf(instanceId, state.organizationId);
    const { email } = state;
    return firstFactors.includes("email") && email?.isVerified === true ? email.address : undefined;
  }

  return {
    async issue(tx, ref, loginId, delivery) {
      const subject = await addressOf(ref.instanceId, await requireUser(tx, ref.userId));
      if (subject === undefined) return undefined;
      return { code: await codes.issue(tx, ref, emailLogin(loginId), { subject, delivery }) };
    },

    check(at, userId, { loginId, code }) {
      return attempts.isRight(at, userId, "password", async (tx, state, ref) => {
        const subject = await addressOf(at.instanceId, state);
        if (subject === undefined) return undefined;
        const tried = { code, subject, isCounted: true as const };
        const isRight = (await codes.spend(tx, ref, emailLogin(loginId), tried)) !== undefined;
        const event = isRight ? "succeeded" : "failed";
        return { isRight, happened: [checkEvents[`human.email.login.check.${event}`]({})] };
      });
    },
  };
}
