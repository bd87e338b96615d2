import { aggregate } from "../../eventstore/aggregate.ts";
import { defineEvents, payload } from "../../eventstore/event.ts";

const nothing = () => payload<Record<string, never>>();

/**
 * What users were told. It stands in a stream of its own beside the one of the user, so that a message that leaves never
 * comes in the way of what they do meanwhile; its id is that of the user.
 */
export const noticeEvents = defineEvents(
  "user",
  {
    "human.initialization.code.sent": nothing(),
    "human.email.code.sent": nothing(),
    "human.email.login.code.sent": nothing(),
    "human.phone.code.sent": nothing(),
    "human.password.code.sent": nothing(),
    "human.password.change.sent": nothing(),
    "human.passwordless.initialization.code.sent": nothing(),
    "human.mfa.otp.sms.code.sent": nothing(),
    "human.mfa.otp.email.code.sent": nothing(),
    "domain.claimed.sent": nothing(),
  },
  "user_notice",
);

export const userNotices = aggregate(noticeEvents, undefined, () => undefined);
