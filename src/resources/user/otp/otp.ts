import { failedPrecondition } from "../../../errors.ts";
import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import { type Authenticator, heldOf } from "../authenticator/authenticators.ts";
import type { Attempts, Judgement } from "../check/attempts.ts";
import { type CheckEvent, checkEvents } from "../check/events.ts";
import { type Codes, type OtpChannel, otpLogin } from "../codes.ts";
import { requireUser, type User } from "../user.ts";

/** The kind of authenticator that one-time passwords are sent to by a channel. */
export const otpKinds = { sms: "otp_sms", email: "otp_email" } as const;

/** A one-time password, and where it belongs. */
export type IssuedOtp = { code: string; address: string };

export type OtpChecks = {
  /**
   * Makes a one-time password in the place of the one before. It counts for five minutes.
   *
   * @throws FAILED_PRECONDITION OTP_SMS_MISSING, OTP_EMAIL_MISSING
   */
  issueOtp(
    tx: Transaction,
    user: { instanceId: string; userId: string },
    channel: OtpChannel,
  ): Promise<IssuedOtp>;
  /** Spends a one-time password. Wrong ones are counted with those of the user's other second factors. */
  checkOtp(
    at: WriteContext,
    userId: string,
    tried: { channel: OtpChannel; code: string },
  ): Promise<boolean>;
};

export function createOtpChecks(codes: Codes, attempts: Attempts): OtpChecks {
  return {
    async issueOtp(tx, user, channel) {
      const { id, address } = chosen(await requireUser(tx, user.userId), channel);
      return { code: await codes.issue(tx, user, otpLogin(channel), id), address };
    },

    async checkOtp(at, userId, { channel, code }) {
      const ref = { instanceId: at.instanceId, userId };
      const judgement = await attempts.judge<Judgement>(at, userId, "factor", async (tx, state) => {
        const { id: subject } = chosen(state, channel);
        const isRight = await codes.spend(tx, ref, otpLogin(channel), { code, subject });
        return { isRight, happened: [checked(channel, isRight)] };
      });
      return judgement?.isRight === true;
    },
  };
}

// Of several, the one that was registered last.
function chosen({ authenticators }: User, channel: OtpChannel): Authenticator {
  const held = heldOf(authenticators, otpKinds[channel], "verified").at(-1);
  if (held !== undefined) return held;
  throw failedPrecondition(
    `OTP_${channel.toUpperCase()}_MISSING`,
    "the user has nothing that one-time passwords could be sent to this way",
  );
}

function checked(channel: OtpChannel, isRight: boolean): CheckEvent {
  if (channel === "sms") {
    return isRight
      ? checkEvents["human.mfa.otp.sms.check.succeeded"]({})
      : checkEvents["human.mfa.otp.sms.check.failed"]({});
  }
  return isRight
    ? checkEvents["human.mfa.otp.email.check.succeeded"]({})
    : checkEvents["human.mfa.otp.email.check.failed"]({});
}
