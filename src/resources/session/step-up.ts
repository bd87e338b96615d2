import { strengths, stepUpRequired, type Strength } from "../../authz/step-up.ts";
import type { StepUp } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import { type LoginPolicy, loginSettingsReader } from "../../settings/policy/login.ts";
import { activeUserReader, authenticatorReader, type AuthenticatorRow } from "../user/index.ts";
import { skewMs } from "./proofs.ts";

/** How old the proof may be that a change to an account stands on (L2). */
export const maxAgeMs = 300_000;

/** Whether callers have proven themselves lately, by the strongest factor that they have (L2). */
export function stepUp(parts: Pick<Deps, "db" | "organizations" | "now">): StepUp {
  const { db, now } = parts;
  const activeUser = activeUserReader(parts);
  const authenticators = authenticatorReader(db);
  const policyOf = loginSettingsReader(db);
  return {
    async require({ instanceId, caller }, { passwordGiven = false } = {}) {
      if (caller.kind === "system") return;
      const { userId, organizationId, authentication } = caller;
      // Machine users act on their own keys by their keys.
      if ((await activeUser(instanceId, userId))?.schemaType === "machine") return;
      const rows = await authenticators.ofUser(instanceId, userId);
      const needed = strongestOf(rows, await policyOf(instanceId, organizationId));
      const at = authentication?.proven[needed]?.getTime();
      const age = at === undefined ? Number.POSITIVE_INFINITY : now().getTime() - at;
      if (age <= maxAgeMs && age >= -skewMs) return;
      // The handler checks the password; whoever gives the right one proves it now.
      const isByPassword = needed === "password" && authentication !== undefined;
      if (passwordGiven && isByPassword) return;
      throw stepUpRequired(needed, maxAgeMs / 1000);
    },
  };
}

/** The strongest factor of a person that the settings let them log in with; who has nothing else has their mailbox. */
const strongestOf = (rows: readonly AuthenticatorRow[], policy: LoginPolicy): Strength => {
  const isByMail =
    policy.firstFactors.includes("email") && !rows.some(({ kind }) => kind === "idp");
  return strengthsHeld(rows, policy)[0] ?? (isByMail ? "email" : "provider");
};

/** How strongly a person can prove themselves as the settings let them, from the strongest down. */
export function strengthsHeld(
  rows: readonly AuthenticatorRow[],
  policy: LoginPolicy,
): readonly Strength[] {
  const { passkeysAllowed, secondFactors } = policy;
  const isMailboxAll =
    policy.firstFactors.includes("email") && !rows.some((row) => standsAlone(row, policy));
  const counting = rows.filter(({ isVerified }) => isVerified).map(heldStrength);
  return strengths.filter((each) => counting.includes(each));

  function heldStrength({ kind, isMarked: isPasskey }: AuthenticatorRow): Strength | undefined {
    switch (kind) {
      case "web_authn":
        if (isPasskey && passkeysAllowed) return "passkey";
        return secondFactors.includes("u2f") ? "mfa" : undefined;
      case "totp":
      case "otp_sms":
        return secondFactors.includes(kind) ? "mfa" : undefined;
      case "otp_email":
        // Where the mailbox is all that they have, it is no second factor beside itself.
        if (isMailboxAll) return undefined;
        return secondFactors.includes(kind) ? "mfa" : undefined;
      case "password":
        return "password";
      default:
        return undefined;
    }
  }
}

const standsAlone = ({ kind, isMarked }: AuthenticatorRow, policy: LoginPolicy): boolean =>
  kind === "idp" ||
  (kind === "password" && policy.allowUsernamePassword) ||
  (kind === "web_authn" && isMarked);
