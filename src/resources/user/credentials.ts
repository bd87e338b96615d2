import type { UserDeps } from "./ports.ts";
import { constantTime } from "../../constant-time.ts";
import { loginSettingsReader } from "../../settings/policy/login.ts";
import type { PasswordPolicy, PolicyReader } from "../../authz/policies.ts";
import { type AuthenticatorReader, authenticatorReader } from "./authenticator/queries.ts";
import { type Attempts, createAttempts } from "./check/attempts.ts";
import { type Codes, createCodes } from "./codes.ts";
import { createPasswordCheck, type PasswordCheck } from "./password/check.ts";
import { createPasswordStore, type PasswordStore } from "./password/stored.ts";
import { createRecoveryCodeStore, type RecoveryCodeStore } from "./recovery/recovery.ts";
import { createTotpStore, type TotpStore } from "./totp/totp.ts";
import { type Challenges, createChallenges } from "./web-authn/challenges.ts";
import { domainsOfInstances, type RequireDomain } from "./web-authn/web-authn.ts";

/** What the handlers of credentials, and the checks of them, share. */
export type Credentials = {
  deps: UserDeps;
  codes: Codes;
  attempts: Attempts;
  authenticators: AuthenticatorReader;
  passwords: PasswordStore;
  policyOf: PolicyReader<PasswordPolicy>;
  checkPassword: PasswordCheck;
  totps: TotpStore;
  recoveryCodes: RecoveryCodeStore;
  challenges: Challenges;
  requireDomain: RequireDomain;
  /** Origins whose pages may use the instance's passkeys beside its own. */
  relatedOrigins: (instanceId: string) => Promise<readonly string[]>;
};

export function createCredentials(deps: UserDeps): Credentials {
  const { db, secrets, policies } = deps;
  const { refusals } = constantTime(50);
  const others = {
    deps,
    codes: createCodes(deps),
    attempts: createAttempts(deps, loginSettingsReader(db)),
    authenticators: authenticatorReader(db),
    passwords: createPasswordStore(secrets),
    policyOf: policies.passwords,
    totps: createTotpStore(secrets),
    recoveryCodes: createRecoveryCodeStore(secrets),
    challenges: createChallenges(db),
    requireDomain: domainsOfInstances(deps),
    relatedOrigins: async (instanceId: string) =>
      (await policies.security(instanceId)).relatedOrigins,
  };
  const checkPassword = createPasswordCheck(others);
  return { ...others, checkPassword: (...tried) => refusals(() => checkPassword(...tried)) };
}
