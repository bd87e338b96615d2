import type { Authentication, Strength } from "../../authz/context.ts";
import { strengths } from "../../authz/step-up.ts";
import type { SessionRow } from "./queries.ts";

/** What a user proved in a session, and when. */
export type Proofs = {
  password: Date | undefined;
  /** A passkey or security key; it stands for a password too where it verified its user. */
  key: Date | undefined;
  isUserVerified: boolean;
  /** A one-time password of an app or by SMS, or a recovery code. */
  otp: Date | undefined;
  /** A code that was sent to the address of the account, in the place of a password. */
  email: Date | undefined;
  /** A code that was sent to a mailbox, whatever it was for. */
  mailbox: Date | undefined;
  recoveryCode: Date | undefined;
  /** A login with an identity provider, which stands alone as a password does. */
  provider: Date | undefined;
  /** One with a provider whose word counts as two factors (option `is_second_factor`). */
  twoFactorProvider: Date | undefined;
  /** Since when the user trusts the browser, which spares the second factor. It proves nothing. */
  trustedSince: Date | undefined;
};

/** @param until what was proven later counts for nothing */
export function proofsOf(row: SessionRow, until?: Date): Proofs {
  const kept = (at: Date | null) =>
    at === null || (until !== undefined && at > until) ? undefined : at;
  return {
    password: kept(row.passwordCheckedAt),
    key: kept(row.webAuthNCheckedAt),
    isUserVerified: row.isUserVerified,
    otp: latest([row.totpCheckedAt, row.otpSmsCheckedAt, row.recoveryCodeCheckedAt].map(kept)),
    email: kept(row.emailCheckedAt),
    mailbox: latest([row.otpEmailCheckedAt, row.emailCheckedAt].map(kept)),
    recoveryCode: kept(row.recoveryCodeCheckedAt),
    provider: kept(row.intentCheckedAt),
    twoFactorProvider: kept(row.twoFactorIntentCheckedAt),
    trustedSince: kept(row.trustedSince),
  };
}

/** How far the clocks of two replicas may differ. */
export const skewMs = 5_000;

/** What was proven by now; what is later is of a clock that went back since. */
export function provenBy(proofs: Proofs, now: Date): Proofs {
  const until = now.getTime() + skewMs;
  const isKept = (at: boolean | Date | undefined) => !(at instanceof Date) || at.getTime() <= until;
  const kept = Object.entries(proofs).map(([name, at]) => [name, isKept(at) ? at : undefined]);
  // Each proof keeps its name.
  return Object.fromEntries(kept) as Proofs;
}

const latest = (dates: readonly (Date | undefined)[]): Date | undefined =>
  dates.filter((date) => date !== undefined).toSorted((a, b) => b.getTime() - a.getTime())[0];

/**
 * What a clock that went back since has told the time of ends no session, and counts no more once the user has proven who they
 * are by the clock of now.
 */
export function countingProofs(row: SessionRow, now: Date): Proofs {
  const all = proofsOf(row);
  const proven = provenBy(all, now);
  return firstFactorAt(proven) === undefined ? all : proven;
}

/** When the user last proved who they are, by what stands alone. */
export const firstFactorAt = (proofs: Proofs): Date | undefined =>
  latest([withoutMailboxAt(proofs), proofs.email]);

/** The same, but for the mailbox. */
const withoutMailboxAt = ({ password, key, isUserVerified, provider }: Proofs): Date | undefined =>
  latest([password, isUserVerified ? key : undefined, provider]);

/** One mailbox is one factor: where it let the user in, it is not their second one as well. */
export const isByMailboxAlone = (proofs: Proofs): boolean =>
  proofs.email !== undefined && withoutMailboxAt(proofs) === undefined;

/** A one-time password that is the second factor, or a recovery code. */
const codeAt = (proofs: Proofs): Date | undefined =>
  latest([proofs.otp, isByMailboxAlone(proofs) ? undefined : proofs.mailbox]);

/** When they last proved it by a second factor, or by one that is both. */
export const secondFactorAt = (proofs: Proofs): Date | undefined =>
  latest([codeAt(proofs), proofs.key, proofs.twoFactorProvider]);

/**
 * How the user proved who they are, in the words of RFC 8176: `pwd`, `otp`, `hwk` (a key), `user` (the key verified its
 * user), `mfa`; and `ext`, which it has no word for: at an identity provider. A code by mail is an `otp`.
 */
export function methodsOf(proofs: Proofs): string[] {
  const { password, key, isUserVerified, provider, twoFactorProvider, email } = proofs;
  const second = codeAt(proofs);
  const one = [
    ...(password === undefined ? [] : ["pwd"]),
    ...(provider === undefined ? [] : ["ext"]),
    ...((second ?? email) === undefined ? [] : ["otp"]),
    ...(key === undefined ? [] : ["hwk"]),
  ];
  const verified = key !== undefined && isUserVerified;
  // Password and provider stand for the same factor.
  const isMfa =
    verified ||
    twoFactorProvider !== undefined ||
    one.filter((each) => each !== "ext").length > 1 ||
    (provider !== undefined && (second ?? key) !== undefined) ||
    (isByMailboxAlone(proofs) && second !== undefined);
  return [...one, ...(verified ? ["user"] : []), ...(isMfa ? ["mfa"] : [])];
}

/** When each strength was proven last: a factor proves its own strength and all below. */
function strengthsOf(proofs: Proofs): Record<Strength, Date | undefined> {
  const { password, key, isUserVerified, recoveryCode, provider } = proofs;
  const strongest = latest([isUserVerified ? key : undefined, recoveryCode]);
  const second = latest([strongest, secondFactorAt(proofs)]);
  const first = latest([second, password]);
  const outside = latest([first, provider]);
  const weakest = latest([outside, proofs.email]);
  return { passkey: strongest, mfa: second, password: first, provider: outside, email: weakest };
}

/**
 * What an authentication comes to, from the strongest down: what was proven no earlier than what `auth_time` tells, so
 * that a token never tells of an old proof as if it were a new one.
 *
 * @param freshSince what was proven before counts for nothing (milliseconds since the epoch)
 */
export function levelsOf(proofs: Proofs, freshSince = 0): readonly Strength[] {
  const since = Math.max(firstFactorAt(proofs)?.getTime() ?? Infinity, freshSince);
  const proven = strengthsOf(proofs);
  return strengths.filter((each) => (proven[each]?.getTime() ?? -1) >= since);
}

/**
 * The authentication that a token stands for.
 *
 * @param issued of a token that was made from the session once: when, and at which `auth_time`. What was proven in the
 * session later counts for newer tokens only.
 */
export function authenticationOf(
  row: SessionRow,
  issued?: { at: Date; authTime: Date },
): Authentication | undefined {
  const isSame = issued?.authTime.getTime() === firstFactorAt(proofsOf(row))?.getTime();
  const until = issued === undefined ? undefined : isSame ? issued.at : issued.authTime;
  const proofs = proofsOf(row, until);
  const proven = strengthsOf(proofs);
  const at = proven.passkey ?? proven.mfa ?? proven.password ?? proven.provider ?? proven.email;
  if (at === undefined) return undefined;
  return { sessionId: row.id, at, methods: methodsOf(proofs), proven };
}
