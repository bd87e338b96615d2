import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import { loginSettingsReader } from "../../../settings/policy/login.ts";
import { checkEvents } from "../check/events.ts";
import { emailLogin } from "../code-kinds.ts";
import type { Delivery } from "../codes.ts";
import type { Credentials } from "../credentials.ts";
import type { IssuedOtp } from "../otp/otp.ts";
import { requireUser, type User } from "../user.ts";
import type { UserRef } from "../user-ref.ts";

export type EmailLoginChecks = ReturnType<typeof createEmailLoginChecks>;

/** Log-ins by a code that is sent to the address of the user, in the place of a password (L9). */
export function createEmailLoginChecks({ deps, codes, attempts }: Credentials) {
  const policyOf = loginSettingsReader(deps.db);

  /** Where the code goes: an address that nobody has proven counts for nothing (J9). */
  async function addressOf(instanceId: string, state: User): Promise<string | undefined> {
    const { firstFactors } = await policyOf(instanceId, state.organizationId);
    const { email } = state;
    return firstFactors.includes("email") && email?.isVerified === true ? email.address : undefined;
  }

  return {
    /**
     * Makes a code for one log-in, named by an id: it counts there alone, for ten minutes. Codes of other log-ins of the user stay,
     * so that nobody who asks for one makes that of somebody else count no more.
     *
     * @returns undefined where the user has proven no address, or the settings let nobody log in this way
     * @throws NOT_FOUND USER_NOT_FOUND
     */
    async issue(
      tx: Transaction,
      ref: UserRef,
      loginId: string,
      delivery: Delivery,
    ): Promise<IssuedOtp | undefined> {
      const subject = await addressOf(ref.instanceId, await requireUser(tx, ref.userId));
      if (subject === undefined) return undefined;
      return { code: await codes.issue(tx, ref, emailLogin(loginId), { subject, delivery }) };
    },

    /**
     * Spends the code of a log-in. Wrong ones are counted with wrong passwords; nobody, and whoever has no such code, gets the
     * answer of a wrong one.
     */
    check(
      at: WriteContext,
      userId: string | undefined,
      { loginId, code }: { loginId: string; code: string },
    ): Promise<boolean> {
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
