import { failedPrecondition, notFound } from "../../../errors.ts";

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
export function requireAny(
  authenticators: Authenticators,
  kind: AuthenticatorKind,
): Authenticator[] {
  const found = authenticatorsOf(authenticators, kind);
  if (found.length > 0) return found;
  throw failedPrecondition(`${names[kind]}_MISSING`, "the user has none to remove");
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
