import type { Strength } from "../authz/step-up.ts";
import type { Missing } from "../oidc/core/ports.ts";
import { missingProof, type Progress } from "../resources/session/index.ts";
import type { FlowData } from "./flow.ts";
import { waysToRegister } from "./registration.ts";

/** Where a login goes on. */
export type Step =
  | "loginName"
  | "password"
  | "emailLogin"
  | "accounts"
  | "register"
  | "mfa"
  | "setup"
  | "recoveryCodes"
  | "changePassword"
  | "verifyEmail"
  | "preparePasskey"
  | "consent"
  | "done";

/**
 * The next step of a flow. What was asked for first (`create`, `select_account`) is where it begins; from then on it is
 * what is still missing, in this order: who, their proofs, what they must do to their account, their consent.
 */
export function nextStep(
  flow: FlowData,
  progress: Progress,
  facts: {
    isConsentDue: boolean;
    /** The address of the account was never proven, and this log-in has not asked for that. */
    isEmailDue: boolean;
    /** The browser is to make a passkey by itself. */
    isPreparable: boolean;
    begin: Missing;
    due: Strength | undefined;
  },
): Step {
  const { sessionId, loginName, isChosen = false } = flow;
  if (sessionId === undefined && loginName === undefined) {
    if (facts.begin === "create" && waysToRegister(progress.policy).length > 0) return "register";
    return facts.begin === "select_account" && !isChosen ? "accounts" : "loginName";
  }
  if (flow.mustChangePassword === true) return "changePassword";
  // A passkey stands for both factors: a password before it would be asked for in vain.
  if (facts.due === "passkey") return "mfa";
  switch (missingProof(progress)) {
    case "firstFactor":
      if (loginName === undefined && sessionId === undefined) return "loginName";
      return isByMailOnly(progress.policy) ? "emailLogin" : "password";
    case "secondFactor":
      return "mfa";
    case "setup":
      return "setup";
    default:
  }
  if (flow.recoveryCodes !== undefined && flow.recoveryCodes.sessionId === sessionId) {
    return "recoveryCodes";
  }
  if (facts.due === "mfa") return "mfa";
  if (facts.due === "password") return "password";
  if (flow.mustVerifyEmail === true || facts.isEmailDue) return "verifyEmail";
  if (facts.isPreparable) return "preparePasskey";
  return facts.isConsentDue && flow.hasConsented !== true ? "consent" : "done";
}

const isByMailOnly = ({ allowUsernamePassword, firstFactors }: Progress["policy"]): boolean =>
  !allowUsernamePassword && firstFactors.includes("email");
