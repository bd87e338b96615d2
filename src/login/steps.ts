import type { Missing } from "../oidc/core/ports.ts";
import type { FlowData } from "./flow.ts";
import type { Factor } from "./pages/mfa.ts";
import type { LoginPolicy } from "../settings/login/index.ts";
import { firstFactorAt, type Proofs, secondFactorAt } from "../resources/session/index.ts";

/** What is known of the login when its next step is looked for. */
export type Progress = {
  policy: LoginPolicy;
  /** What the user has proven in the session of the flow; nothing without one. */
  proofs: Proofs | undefined;
  /** His second factors that count by the settings. */
  factors: readonly Factor[];
  freshSince: number | undefined;
  now: Date;
};

const isRecent = (at: Date | undefined, lifeMs: number, { freshSince, now }: Progress): boolean =>
  at !== undefined && now.getTime() - at.getTime() <= lifeMs && at.getTime() >= (freshSince ?? 0);

/** What of the proofs is missing: the first factor, the second, or that one is set up. */
export function missingProof(
  progress: Progress,
): "firstFactor" | "secondFactor" | "setup" | undefined {
  const { proofs, policy, factors } = progress;
  if (proofs === undefined) return "firstFactor";
  if (!isRecent(firstFactorAt(proofs), policy.passwordCheckLifetimeMs, progress))
    return "firstFactor";
  if (isRecent(secondFactorAt(proofs), policy.mfaCheckLifetimeMs, progress)) return undefined;
  if (factors.length > 0) return "secondFactor";
  return policy.forceMfa ? "setup" : undefined;
}

/** Where a login goes on. */
export type Step =
  | "loginName"
  | "password"
  | "accounts"
  | "register"
  | "mfa"
  | "setup"
  | "changePassword"
  | "verifyEmail"
  | "consent"
  | "done";

/**
 * The next step of a flow. What was asked for first (`create`, `select_account`) is where it begins; from then on it is
 * what is still missing, in this order: who, his proofs, what he must do to his account, his consent.
 */
export function nextStep(
  flow: FlowData,
  progress: Progress,
  facts: { isConsentDue: boolean; begin: Missing },
): Step {
  const { sessionId, loginName, isChosen = false } = flow;
  if (sessionId === undefined && loginName === undefined) {
    if (facts.begin === "create" && progress.policy.allowRegister) return "register";
    return facts.begin === "select_account" && !isChosen ? "accounts" : "loginName";
  }
  if (flow.mustChangePassword === true) return "changePassword";
  switch (missingProof(progress)) {
    case "firstFactor":
      return loginName === undefined && sessionId === undefined ? "loginName" : "password";
    case "secondFactor":
      return "mfa";
    case "setup":
      return "setup";
    default:
  }
  if (flow.mustVerifyEmail === true) return "verifyEmail";
  return facts.isConsentDue && flow.hasConsented !== true ? "consent" : "done";
}
