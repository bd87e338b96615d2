import { failedPrecondition, notFound } from "../../../errors.ts";
import type { UserEvent } from "../events.ts";

/** The kinds of what users log in with; there is at most one password, secret and set of recovery codes. */
export type AuthenticatorKind =
  | "password"
  | "web_authn"
  | "totp"
  | "otp_sms"
  | "otp_email"
  | "recovery_codes"
  | "idp"
  | "pat"
  | "key"
  | "secret";

/** The id of what there is at most one of. */
export const onlyOne = "1";

/** One thing that a user logs in with. */
export type Authenticator = {
  kind: AuthenticatorKind;
  id: string;
  isVerified: boolean;
  /**
   * Where one-time passwords are sent to; of a passkey the id of the credential; of an account at a provider, whose id is
   * the provider's, what the provider knows the user by.
   */
  address: string;
  /** Of what is registered by WebAuthn: whether it is a passkey. */
  isPasskey: boolean;
  /** When a token or a key stops to count by itself; an ISO 8601 date. */
  expirationDate?: string;
};

type Authenticators = readonly Authenticator[];

/** What a user logs in with after an event; every other event leaves it as it is. */
export function foldAuthenticators(
  authenticators: Authenticators,
  event: UserEvent,
): Authenticators {
  switch (event.type) {
    case "user.human.password.changed":
      return add(authenticators, "password", onlyOne, { isVerified: true });
    case "user.human.password.removed":
      return drop(authenticators, "password", onlyOne);
    case "user.human.passwordless.token.added":
    case "user.human.mfa.u2f.token.added": {
      const { webAuthNId, credentialId: address } = event.payload;
      const isPasskey = event.type === "user.human.passwordless.token.added";
      return add(authenticators, "web_authn", webAuthNId, { address, isPasskey });
    }
    case "user.human.passwordless.token.verified":
    case "user.human.mfa.u2f.token.verified":
      return verify(authenticators, "web_authn", event.payload.webAuthNId);
    case "user.human.passwordless.token.removed":
    case "user.human.mfa.u2f.token.removed":
      return drop(authenticators, "web_authn", event.payload.webAuthNId);
    case "user.human.mfa.otp.added":
      return add(authenticators, "totp", event.payload.totpId);
    case "user.human.mfa.otp.verified":
      return verify(authenticators, "totp", event.payload.totpId);
    case "user.human.mfa.otp.removed":
      return drop(authenticators, "totp", event.payload.totpId);
    case "user.human.mfa.otp.sms.added":
      return add(authenticators, "otp_sms", event.payload.otpSmsId, {
        address: event.payload.number,
      });
    case "user.human.mfa.otp.sms.verified":
      return verify(authenticators, "otp_sms", event.payload.otpSmsId);
    case "user.human.mfa.otp.sms.removed":
      return drop(authenticators, "otp_sms", event.payload.otpSmsId);
    case "user.human.mfa.otp.email.added":
      return add(authenticators, "otp_email", event.payload.otpEmailId, {
        address: event.payload.address,
      });
    case "user.human.mfa.otp.email.verified":
      return verify(authenticators, "otp_email", event.payload.otpEmailId);
    case "user.human.mfa.otp.email.removed":
      return drop(authenticators, "otp_email", event.payload.otpEmailId);
    case "user.human.mfa.recovery_codes.added":
      return add(authenticators, "recovery_codes", onlyOne, { isVerified: true });
    case "user.human.mfa.recovery_codes.removed":
      return drop(authenticators, "recovery_codes", onlyOne);
    case "user.human.externalidp.added": {
      const { idpId, externalUserId: address } = event.payload;
      return add(authenticators, "idp", idpId, { isVerified: true, address });
    }
    case "user.human.externalidp.suspended":
      return verify(authenticators, "idp", event.payload.idpId, false);
    case "user.human.externalidp.confirmed":
      return verify(authenticators, "idp", event.payload.idpId);
    case "user.human.externalidp.removed":
    case "user.human.externalidp.cascade.removed":
      return drop(authenticators, "idp", event.payload.idpId);
    case "user.pat.added":
      return add(authenticators, "pat", event.payload.tokenId, lasting(event.payload));
    case "user.pat.removed":
      return drop(authenticators, "pat", event.payload.tokenId);
    case "user.machine.key.added":
      return add(authenticators, "key", event.payload.keyId, lasting(event.payload));
    case "user.machine.key.removed":
      return drop(authenticators, "key", event.payload.keyId);
    case "user.machine.secret.set":
      return add(authenticators, "secret", onlyOne, {
        isVerified: true,
        address: event.payload.clientId,
      });
    case "user.machine.secret.removed":
      return drop(authenticators, "secret", onlyOne);
    default:
      return authenticators;
  }
}

const lasting = ({ expirationDate }: { expirationDate: string | undefined }) => ({
  isVerified: true,
  ...(expirationDate === undefined ? {} : { expirationDate }),
});

const isOther = (kind: AuthenticatorKind, id: string) => (one: Authenticator) =>
  one.kind !== kind || one.id !== id;

const drop = (
  authenticators: Authenticators,
  kind: AuthenticatorKind,
  id: string,
): Authenticators => authenticators.filter(isOther(kind, id));

const add = (
  authenticators: Authenticators,
  kind: AuthenticatorKind,
  id: string,
  more: Partial<Authenticator> = {},
): Authenticators => [
  ...drop(authenticators, kind, id),
  { kind, id, isVerified: false, address: "", isPasskey: false, ...more },
];

const verify = (
  authenticators: Authenticators,
  kind: AuthenticatorKind,
  id: string,
  isVerified = true,
): Authenticators =>
  authenticators.map((one) => (isOther(kind, id)(one) ? one : { ...one, isVerified }));

/** Of one kind, what a user has; without the ones whose registration was not ended where `verified` is asked for. */
export const authenticatorsOf = (
  authenticators: Authenticators,
  kind: AuthenticatorKind,
  only?: "verified",
): Authenticator[] =>
  authenticators.filter((one) => one.kind === kind && (only === undefined || one.isVerified));

const firstFactors: ReadonlySet<AuthenticatorKind> = new Set(["password", "idp"]);
const secondFactors: ReadonlySet<AuthenticatorKind> = new Set(["totp", "otp_sms", "otp_email"]);
const standing: ReadonlySet<AuthenticatorKind> = new Set(["pat", "key", "secret"]);

const isFirst = ({ kind, isPasskey }: Authenticator): boolean =>
  firstFactors.has(kind) || isPasskey;
const isSecond = ({ kind }: Authenticator): boolean =>
  secondFactors.has(kind) || kind === "web_authn";

/**
 * Until when the user has something that logs them in, or a credential (milliseconds since the epoch): without end where
 * one of them has none.
 */
export const lastsUntil = ({ authenticators }: { authenticators: Authenticators }): number =>
  Math.max(
    Number.NEGATIVE_INFINITY,
    ...authenticators
      .filter((one) => one.isVerified && (isFirst(one) || standing.has(one.kind)))
      .map(({ expirationDate: end }) =>
        end === undefined ? Number.POSITIVE_INFINITY : new Date(end).getTime(),
      ),
  );

/** Whether the user has something that logs them in, or a credential that has not ended. */
export const canLogIn = (state: { authenticators: Authenticators }, now: Date): boolean =>
  lastsUntil(state) > now.getTime();

/** Whether another factor that does the same stays when one is removed. */
export function staysProven(
  authenticators: Authenticators,
  kind: AuthenticatorKind,
  id?: string,
): boolean {
  const isRemoved = (one: Authenticator) =>
    one.kind === kind && (id === undefined || one.id === id);
  const removed = authenticators.filter(isRemoved);
  const others = authenticators.filter((one) => one.isVerified && !isRemoved(one));
  return (
    (!removed.some(isFirst) || others.some(isFirst)) &&
    (!removed.some(isSecond) || others.some(isSecond))
  );
}

const names: Record<AuthenticatorKind, string> = {
  password: "PASSWORD",
  web_authn: "WEB_AUTH_N",
  totp: "TOTP",
  otp_sms: "OTP_SMS",
  otp_email: "OTP_EMAIL",
  recovery_codes: "RECOVERY_CODES",
  idp: "IDP_LINK",
  pat: "PERSONAL_ACCESS_TOKEN",
  key: "PUBLIC_KEY",
  secret: "SECRET",
};

/** @throws NOT_FOUND <KIND>_NOT_FOUND */
export function requireHeld(
  authenticators: Authenticators,
  kind: AuthenticatorKind,
  id: string,
): Authenticator {
  const found = authenticators.find((one) => one.kind === kind && one.id === id);
  if (found !== undefined) return found;
  throw notFound(`${names[kind]}_NOT_FOUND`, "the user has nothing of this kind with this id");
}

/** @throws FAILED_PRECONDITION <KIND>_VERIFIED */
export function requireUnverified({ kind, isVerified }: Authenticator): void {
  if (isVerified) {
    throw failedPrecondition(`${names[kind]}_VERIFIED`, "the registration was ended already");
  }
}

/** @throws FAILED_PRECONDITION <KIND>_MISSING */
export function requireAny(authenticators: Authenticators, kind: AuthenticatorKind): void {
  if (authenticatorsOf(authenticators, kind).length === 0) {
    throw failedPrecondition(`${names[kind]}_MISSING`, "the user has none to remove");
  }
}

const most = 50;

/** @throws FAILED_PRECONDITION AUTHENTICATOR_LIMIT */
export function requireRoom(authenticators: Authenticators, kind: AuthenticatorKind): void {
  if (authenticatorsOf(authenticators, kind).length < most) return;
  throw failedPrecondition(
    "AUTHENTICATOR_LIMIT",
    `a user can have ${most} of a kind: remove one that is not needed`,
    { metadata: { maximum: String(most) } },
  );
}
