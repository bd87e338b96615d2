import type { UserDeps } from "./ports.ts";
import { constantTime, type Outcome } from "../../constant-time.ts";
import type { CodeCheck } from "./check/attempts.ts";
import { createCredentials } from "./credentials.ts";
import { createEmailLoginChecks, type EmailLoginChecks } from "./email-login/email-login.ts";
import { createIdpIntentCheck, type IdpIntentCheck } from "./idp-link/check.ts";
import { createOtpChecks, type OtpChecks } from "./otp/otp.ts";
import type { PasswordCheck } from "./password/check.ts";
import { createRecoveryCodeCheck } from "./recovery/recovery.ts";
import { createTotpCheck } from "./totp/totp.ts";
import { createWebAuthNChecks, type WebAuthNChecks } from "./web-authn/web-authn.ts";

// Longer than it takes to read and write what a wrong attempt leaves.
const refusalMs = 50;

/**
 * The checks of what users log in with: what sessions, the login and the token endpoint stand on.
 *
 * Each check is a unit of its own, committed before it answers: what counts once is spent, what was wrong is counted, and
 * its event is in the log. `at` says on whose behalf (`writeContext(scope)`). Call a check before the unit that lets the
 * user in, never inside of it, and open that unit only where the answer is right.
 *
 * Nothing tells a wrong attempt from any other cause: nobody of this name (`userId` undefined, or an id that is no user's),
 * a user or an organization that is not active, one who has nothing of the kind, one who has to wait after ten wrong
 * attempts (D51). All get the same answer after the same time (`constant-time.ts`). What comes of it is one refusal, INVALID_CREDENTIALS, that the
 * caller makes; the checks throw only what is nobody's fault (UNAVAILABLE PASSWORD_HASHING_BUSY, ABORTED CONCURRENT_CHANGE).
 *
 * Wrong passwords are counted apart from wrong second factors, which share one counter; over every way in and all replicas.
 * A browser by which the user has logged in before has counters of its own. A right attempt sets its counter back.
 */
export type UserChecks = {
  /** Right with `changeRequired`: the user must set another password (`SetPassword`) before they go on. */
  password: PasswordCheck;
  /** A code of an app counts once: neither it nor an earlier one is right again. */
  totp: CodeCheck;
  /** One-time passwords by SMS and e-mail. `issue` stands in the caller's unit; sending the code is up to the caller. */
  otp: OtpChecks;
  /** Codes that are sent in the place of a password. `issue` stands in the caller's unit. */
  emailLogin: EmailLoginChecks;
  recoveryCode: CodeCheck;
  /** A login with an identity provider; it counts once. */
  idpIntent: IdpIntentCheck;
  /** Passkeys and security keys. `challenge` stands in the caller's unit, who keeps the `challengeId` for the check. */
  webAuthN: WebAuthNChecks;
};

export function userChecks(deps: UserDeps): UserChecks {
  const credentials = createCredentials(deps);
  const { refusals } = constantTime(refusalMs);
  const timed =
    <T extends unknown[], R extends Outcome>(check: (...tried: T) => Promise<R>) =>
    (...tried: T) =>
      refusals(() => check(...tried));
  const otp = createOtpChecks(credentials);
  const emailLogin = createEmailLoginChecks(credentials);
  const webAuthN = createWebAuthNChecks(credentials);
  return {
    password: credentials.checkPassword,
    totp: timed(createTotpCheck(credentials)),
    otp: { ...otp, check: timed(otp.check) },
    emailLogin: { ...emailLogin, check: timed(emailLogin.check) },
    recoveryCode: timed(createRecoveryCodeCheck(credentials)),
    idpIntent: timed(createIdpIntentCheck(credentials)),
    webAuthN: {
      ...webAuthN,
      check: timed(webAuthN.check),
      checkDiscovered: timed(webAuthN.checkDiscovered),
    },
  };
}
