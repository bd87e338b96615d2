import { defineEvents, type EventOf, payload, type Subject } from "../../eventstore/event.ts";

/** The user of the session, where they are known already. */
type Of = { userId?: string | undefined };

export type UserAgentSet = Of & {
  fingerprintId: string;
  ip: string;
  description: string;
  /** JSON text: lists of values by name. */
  header: string;
};

/** JSON text: values in base64 by name, null for one that was removed. */
export type MetadataSet = Of & { metadata: string };

const nothing = () => payload<Record<string, never>>();

/** Where no user is known, the session has a key of its own, which goes with it. */
const subject = ({ userId }: Of, sessionId: string): string | Subject =>
  userId ?? { type: "session", id: sessionId };

export type IntentChecked = { idpId: string; isSecondFactor?: true };

export type Ending = "deleted" | "expired" | "user";

/** Facts about a session. What tells of a person is encrypted (C7). */
export const sessionEvents = defineEvents("session", {
  added: nothing(),
  "user_agent.set": payload<UserAgentSet>({
    personal: ["fingerprintId", "ip", "description", "header"],
    subject,
  }),
  "user.checked": payload<{ userId: string; organizationId: string }>(),
  "password.checked": nothing(),
  "webauthn.challenged": payload<{ challengeId: string; domain: string }>(),
  "webauthn.checked": payload<{ webAuthNId: string; isUserVerified: boolean }>(),
  /** Its user logged in with a provider; `isSecondFactor` where that counted as two factors. */
  "intent.checked": payload<IntentChecked>(),
  "totp.checked": nothing(),
  "otp.sms.challenged": nothing(),
  "otp.sms.checked": nothing(),
  "otp.email.challenged": nothing(),
  "otp.email.checked": nothing(),
  /** A code in the place of the password was sent to the address of its user, and was right. */
  "email.challenged": nothing(),
  "email.checked": nothing(),
  "recovery_code.checked": nothing(),
  /** Its user has trusted the browser that it is in since then: while that counts, no second factor is asked for. */
  "second_factor.spared": payload<{ since: string }>(),
  "metadata.set": payload<MetadataSet>({ personal: ["metadata"], subject }),
  "lifetime.set": payload<{ expirationDate: string }>(),
  /** A new token took the place of the one before. */
  "token.set": nothing(),
  /** `user`: it ended with what happened to its user. */
  terminated: payload<{ ending: Ending }>(),
});

export type SessionEvent = EventOf<typeof sessionEvents>;

/** A login with a provider, as it counts. */
export const intentChecked = ({
  idpId,
  isSecondFactor,
}: {
  idpId: string;
  isSecondFactor: boolean;
}): SessionEvent =>
  sessionEvents["intent.checked"](isSecondFactor ? { idpId, isSecondFactor } : { idpId });
