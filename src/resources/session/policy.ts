import { type Awaitable, whenKnown } from "../../awaitable.ts";
import type { Unfinished } from "../../authz/context.ts";
import type { MembershipReader } from "../../authz/ports.ts";
import {
  type LoginPolicy,
  loginSettingsReader,
  type SecondFactor,
} from "../../settings/policy/login.ts";
import type { Database } from "../../storage/database.ts";
import { authenticatorReader, type AuthenticatorRow } from "../user/index.ts";
import {
  firstFactorAt,
  isByMailboxAlone,
  type Proofs,
  proofsOf,
  secondFactorAt,
} from "./proofs.ts";
import type { SessionRow } from "./queries.ts";

/** What is judged when it is asked whether a user has proven all that the settings demand. */
export type Progress<Factor = unknown> = {
  policy: LoginPolicy;
  /** What the user has proven; nothing where there is no session yet. */
  proofs: Proofs | undefined;
  /** The second factors of the user that count by the settings. */
  factors: readonly Factor[];
  /** One of them is something else than a mailbox, and than recovery codes. */
  hasFactorBesideMailbox: boolean;
  /** From when on proofs count, where a fresh log-in is asked for. */
  freshSince: number | undefined;
  now: Date;
};

const isRecent = (at: Date | undefined, lifeMs: number, { freshSince, now }: Progress): boolean =>
  at !== undefined && now.getTime() - at.getTime() <= lifeMs && at.getTime() >= (freshSince ?? 0);

/**
 * What of the proofs is missing: the first factor, the second, or that one is set up. The pages of the login and the
 * bearers of sessions are held to this same rule (J11).
 */
export function missingProof(
  progress: Progress,
): "firstFactor" | "secondFactor" | "setup" | undefined {
  const { policy, factors } = progress;
  if (progress.proofs === undefined) return "firstFactor";
  const proofs = allowed(progress.proofs, policy);
  if (!isRecent(firstFactorAt(proofs), policy.passwordCheckLifetimeMs, progress))
    return "firstFactor";
  if (isRecent(secondFactorAt(proofs), policy.mfaCheckLifetimeMs, progress)) return undefined;
  if (factors.length > 0) {
    const isSameFactor = isByMailboxAlone(proofs) && !progress.hasFactorBesideMailbox;
    // The mailbox has let them in: the other factor is their password, where that counts.
    if (isSameFactor && policy.allowUsernamePassword) return "firstFactor";
    if (!isSameFactor) return isSpared(progress) ? undefined : "secondFactor";
  }
  return policy.forceMfa ? "setup" : undefined;
}

/** Whether the browser that the user trusts stands in for the second factor; not for one that they have yet to set up. */
const isSpared = ({ policy, proofs, now }: Progress): boolean =>
  proofs?.trustedSince !== undefined &&
  proofs.trustedSince.getTime() + policy.trustedBrowserLifetimeMs > now.getTime();

/** What was proven in ways that the settings allow. */
const allowed = (proofs: Proofs, policy: LoginPolicy): Proofs => ({
  ...proofs,
  password: policy.allowUsernamePassword ? proofs.password : undefined,
  email: policy.firstFactors.includes("email") ? proofs.email : undefined,
  provider: policy.allowExternalIdp ? proofs.provider : undefined,
  twoFactorProvider: policy.allowExternalIdp ? proofs.twoFactorProvider : undefined,
  isUserVerified: proofs.isUserVerified && policy.passkeysAllowed,
});

const kinds: Readonly<Record<string, SecondFactor>> = {
  totp: "totp",
  web_authn: "u2f",
  otp_email: "otp_email",
  otp_sms: "otp_sms",
};

/** Recovery codes alone are no second factor: they stand in for one. */
const countsAsSecond = ({ kind, isVerified }: AuthenticatorRow, policy: LoginPolicy): boolean => {
  const setting = kinds[kind];
  return isVerified && setting !== undefined && policy.secondFactors.includes(setting);
};

export type SessionJudge = (
  instanceId: string,
  session: SessionRow,
) => Awaitable<Unfinished | undefined>;

type Demands = { db: Database; memberships: MembershipReader };

/** The login settings of a user's organization, with what is demanded of the user beyond them. */
export type DemandReader = (
  instanceId: string,
  user: { id: string; organizationId: string },
) => Awaitable<LoginPolicy>;

/** What is demanded of a person who logs in: `force_mfa_administrators` means whoever holds a role (J11). */
export function demandReader({ db, memberships }: Demands): DemandReader {
  const policyOf = loginSettingsReader(db);
  return (instanceId, { id, organizationId }) =>
    whenKnown(policyOf(instanceId, organizationId), (policy) =>
      policy.forceMfa || !policy.forceMfaAdministrators
        ? policy
        : whenKnown(memberships.ofUser(instanceId, id), (rows) =>
            rows.length === 0 ? policy : { ...policy, forceMfa: true },
          ),
    );
}

/** What a session lacks to act as its user, by what is demanded of the user. */
export function sessionJudge(parts: Demands & { now: () => Date }): SessionJudge {
  const { db, now } = parts;
  const demandOf = demandReader(parts);
  const authenticators = authenticatorReader(db);
  return (instanceId, session) =>
    whenKnown(demandOf(instanceId, { ...session, id: session.userId }), (policy) =>
      whenKnown(authenticators.ofUser(instanceId, session.userId), (rows) =>
        judge(session, policy, rows, now()),
      ),
    );
}

function judge(
  session: SessionRow,
  policy: LoginPolicy,
  rows: readonly AuthenticatorRow[],
  now: Date,
): Unfinished | undefined {
  const factors = rows.filter((each) => countsAsSecond(each, policy));
  const proofs = proofsOf(session);
  const hasFactorBesideMailbox = factors.some(({ kind }) => kind !== "otp_email");
  const held = { factors, hasFactorBesideMailbox };
  const missing = missingProof({ policy, proofs, ...held, freshSince: undefined, now });
  const isOld = now.getTime() - session.creationDate.getTime() > policy.sessionLifetimeMs;
  const first = firstFactorAt(proofs);
  const isAllowed = firstFactorAt(allowed(proofs, policy)) !== undefined;
  const lacks = [
    ...(isOld ? (["session_lifetime"] as const) : []),
    ...(missing === "firstFactor"
      ? ([first !== undefined && !isAllowed ? "allowed_way" : "first_factor"] as const)
      : []),
    ...(missing === "secondFactor" ? (["second_factor"] as const) : []),
    ...(missing === "setup" ? (["second_factor_setup"] as const) : []),
  ];
  if (lacks.length === 0) return undefined;
  return {
    lacks,
    hasSecondFactor: factors.length > 0,
    mustChangePassword: rows.some(({ kind, isMarked }) => kind === "password" && isMarked),
  };
}
