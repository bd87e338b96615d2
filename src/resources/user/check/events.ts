import { defineEvents, type EventOf, payload } from "../../../eventstore/event.ts";

const nothing = () => payload<Record<string, never>>();
const credential = () => payload<{ webAuthNId: string }>();
const signCount = () => payload<{ webAuthNId: string; signCount: number }>();

/**
 * How checks of a user's credentials came out. They have a stream of their own beside the one of the user, since there
 * are many of them and nothing of the user follows from them; its id is that of the user.
 */
export const checkEvents = defineEvents(
  "user",
  {
    "human.password.check.succeeded": nothing(),
    "human.password.check.failed": nothing(),
    /** The hash was made anew, with the password at hand: the one before was imported or weaker. */
    "human.password.hash.updated": nothing(),
    "human.email.login.check.succeeded": nothing(),
    "human.email.login.check.failed": nothing(),
    "human.mfa.otp.check.succeeded": payload<{ totpId: string }>(),
    "human.mfa.otp.check.failed": nothing(),
    "human.mfa.otp.sms.check.succeeded": nothing(),
    "human.mfa.otp.sms.check.failed": nothing(),
    "human.mfa.otp.email.check.succeeded": nothing(),
    "human.mfa.otp.email.check.failed": nothing(),
    "human.mfa.recovery_codes.check.succeeded": payload<{ remaining: number }>(),
    "human.mfa.recovery_codes.check.failed": nothing(),
    "human.externalidp.check.succeeded": payload<{ idpId: string }>(),
    "human.passwordless.token.check.succeeded": credential(),
    "human.passwordless.token.check.failed": credential(),
    "human.passwordless.token.signcount.changed": signCount(),
    "human.mfa.u2f.token.check.succeeded": credential(),
    "human.mfa.u2f.token.check.failed": credential(),
    "human.mfa.u2f.token.signcount.changed": signCount(),
  },
  "user_check",
);

export type CheckEvent = EventOf<typeof checkEvents>;
