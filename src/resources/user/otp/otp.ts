import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import { type Authenticator, authenticatorsOf } from "../authenticator/authenticators.ts";
import { checkEvents } from "../check/events.ts";
import { otpLogin } from "../code-kinds.ts";
import type { Delivery } from "../codes.ts";
import type { Credentials } from "../credentials.ts";
import type { Channel } from "../notice.ts";
import { type UserEvent, userEvents } from "../events.ts";
import { requireUser, type User, user } from "../user.ts";
import type { UserRef } from "../user-ref.ts";

/** The kind of authenticator that one-time passwords are sent to by a channel. */
export const otpKinds = { sms: "otp_sms", email: "otp_email" } as const;

/** A one-time password, where the caller asked to be told it. */
export type IssuedOtp = { code: string | undefined };

export type OtpChecks = ReturnType<typeof createOtpChecks>;

export function createOtpChecks({ codes, attempts }: Credentials) {
  return {
    /**
     * Makes a one-time password in the place of the one before. It counts for five minutes.
     *
     * @returns undefined where the user has nothing that it could be sent to this way
     * @throws NOT_FOUND USER_NOT_FOUND
     */
    async issue(
      tx: Transaction,
      ref: UserRef,
      channel: Channel,
      delivery: Delivery,
    ): Promise<IssuedOtp | undefined> {
      const chosen = choose(await requireUser(tx, ref.userId), channel);
      if (chosen === undefined) return undefined;
      const code = await codes.issue(tx, ref, otpLogin(channel), { subject: chosen.id, delivery });
      tx.record(user, await tx.load(user, ref.userId), [announced(channel)]);
      return { code };
    },

    /**
     * Spends a one-time password. Wrong ones are counted with those of the user's other second factors; nobody, and who
     * has nothing registered, gets the answer of a wrong one.
     */
    check(
      at: WriteContext,
      userId: string | undefined,
      { channel, code }: { channel: Channel; code: string },
    ): Promise<boolean> {
      return attempts.isRight(at, userId, "factor", async (tx, state, row) => {
        const chosen = choose(state, channel);
        if (chosen === undefined) return undefined;
        const tried = { code, subject: chosen.id, isCounted: true as const };
        const isRight = (await codes.spend(tx, row, otpLogin(channel), tried)) !== undefined;
        const came = isRight ? "succeeded" : "failed";
        return { isRight, happened: [checkEvents[`human.mfa.otp.${channel}.check.${came}`]({})] };
      });
    },
  };
}

// Of several, the one that was registered last.
const choose = ({ authenticators }: User, channel: Channel): Authenticator | undefined =>
  authenticatorsOf(authenticators, otpKinds[channel], "verified").at(-1);

/** Says that a code was made. */
export const announced = (channel: Channel): UserEvent =>
  userEvents[`human.mfa.otp.${channel}.code.added`]({});
