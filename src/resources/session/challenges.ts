import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ChallengesSchema,
  type RequestChallenges,
  type RequestChallenges_OTPEmail,
  UserVerificationRequirement,
} from "#gen/idsvc/resources/session/v3alpha/challenge_pb.ts";
import { type DomainError, failedPrecondition } from "../../errors.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Delivery, IssuedOtp, UserChecks, UserVerification } from "../user/index.ts";
import { type SessionEvent, sessionEvents } from "./events.ts";
import { type Session, userMissing } from "./session.ts";

/** What was asked of the user, and what the caller is told of it. */
export type Challenged = {
  happened: SessionEvent[];
  response: MessageInitShape<typeof ChallengesSchema> | undefined;
};

const verifications: Record<number, UserVerification> = {
  [UserVerificationRequirement.REQUIRED]: "required",
  [UserVerificationRequirement.DISCOURAGED]: "discouraged",
};

/**
 * Makes the challenges of a request, in the unit that changes the session.
 *
 * @throws FAILED_PRECONDITION SESSION_USER_MISSING, WEB_AUTH_N_NOT_REGISTERED, OTP_SMS_NOT_REGISTERED,
 * OTP_EMAIL_NOT_REGISTERED, EMAIL_LOGIN_MISSING
 * @throws INVALID_ARGUMENT WEB_AUTH_N_DOMAIN_INVALID
 * @throws PERMISSION_DENIED PROOF_FOR_ONESELF, PERMISSION_MISSING where a code is to be returned
 */
export async function challenge(
  checks: UserChecks,
  tx: Transaction,
  at: { instanceId: string; sessionId: string; session: Session },
  wanted: RequestChallenges | undefined,
  /** Refuses to return a code of the user of the session to the caller. */
  requireVouching: (user: { userId: string; organizationId: string }) => void,
): Promise<Challenged> {
  const happened: SessionEvent[] = [];
  const { webAuthN, otpSms, otpEmail, email } = wanted ?? {};
  if ([webAuthN, otpSms, otpEmail, email].every((each) => each === undefined)) {
    return { happened, response: undefined };
  }
  if (at.session.user === undefined) throw userMissing();
  const ref = { instanceId: at.instanceId, userId: at.session.user.id };
  const response: MessageInitShape<typeof ChallengesSchema> = {};
  const isReturned = otpSms?.returnCode === true || [otpEmail, email].some(returns);
  if (isReturned) {
    requireVouching({ userId: ref.userId, organizationId: at.session.user.organizationId });
  }

  if (webAuthN !== undefined) {
    const { domain, userVerificationRequirement } = webAuthN;
    const asked = await checks.webAuthN.challenge(tx, ref, {
      domain,
      field: "session.challenges.web_auth_n.domain",
      userVerification: verifications[userVerificationRequirement] ?? "preferred",
    });
    if (asked === undefined) {
      throw notRegistered("WEB_AUTH_N", "no passkey and no security key for the domain");
    }
    const { challengeId, options } = asked;
    happened.push(sessionEvents["webauthn.challenged"]({ challengeId, domain }));
    response.webAuthN = { publicKeyCredentialRequestOptions: options };
  }
  const { sessionId } = at;
  const told = (issued: IssuedOtp | undefined, event: SessionEvent, missing: () => DomainError) => {
    if (issued === undefined) throw missing();
    happened.push(event);
    return issued.code;
  };
  if (otpSms !== undefined) {
    const delivery = otpSms.returnCode ? "returned" : ({ channel: "sms", sessionId } as const);
    const issued = await checks.otp.issue(tx, ref, "sms", delivery);
    response.otpSms = told(issued, sessionEvents["otp.sms.challenged"]({}), () =>
      notRegistered("OTP_SMS", "no phone number for one-time passwords"),
    );
  }
  if (otpEmail !== undefined) {
    const issued = await checks.otp.issue(tx, ref, "email", mailFor(sessionId, otpEmail));
    response.otpEmail = told(issued, sessionEvents["otp.email.challenged"]({}), () =>
      notRegistered("OTP_EMAIL", "no e-mail address for one-time passwords"),
    );
  }
  if (email !== undefined) {
    const issued = await checks.emailLogin.issue(tx, ref, sessionId, mailFor(sessionId, email));
    response.email = told(issued, sessionEvents["email.challenged"]({}), emailLoginMissing);
  }
  return { happened, response };
}

const returns = (mail: RequestChallenges_OTPEmail | undefined): boolean =>
  mail?.delivery.case === "returnCode";

const mailFor = (sessionId: string, mail: RequestChallenges_OTPEmail): Delivery =>
  mail.delivery.case === "returnCode"
    ? "returned"
    : { channel: "email", sessionId, urlTemplate: mail.delivery.value?.urlTemplate };

const emailLoginMissing = () =>
  failedPrecondition(
    "EMAIL_LOGIN_MISSING",
    "the user has proven no e-mail address, or the login settings have no `email` among `first_factors`: ask for something else",
  );

const notRegistered = (what: string, lack: string) =>
  failedPrecondition(`${what}_NOT_REGISTERED`, `the user has ${lack}: ask for something else`);
