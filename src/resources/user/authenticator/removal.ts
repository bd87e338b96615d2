import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Scope } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import { changingUser, type UserInUnit } from "../change.ts";
import type { Credentials } from "../credentials.ts";
import { type UserEvent, userEvents } from "../events.ts";
import { machineSecretRef } from "../machine/credentials.ts";
import { personalAccessTokenRef } from "../token/tokens.ts";
import {
  type Authenticator,
  type AuthenticatorKind,
  requireAny,
  requireHeld,
} from "./authenticators.ts";
import { webAuthNEvents } from "./events.ts";

/** The methods that take away what a user logs in with. */
export function removalHandlers(credentials: Credentials) {
  const change = changingUser(credentials.deps);
  const remove = (scope: Scope, userId: string, kind: AuthenticatorKind, id: string) =>
    change(scope, userId, (one) => {
      endAuthenticators(credentials, one, [requireHeld(one.state.authenticators, kind, id)]);
    });
  const removeOnly = (scope: Scope, userId: string, kind: AuthenticatorKind) =>
    change(scope, userId, (one) => {
      endAuthenticators(credentials, one, requireAny(one.state.authenticators, kind));
    });
  return {
    removePassword: ({ id }, scope) => removeOnly(scope, id, "password"),
    removeRecoveryCodes: ({ id }, scope) => removeOnly(scope, id, "recovery_codes"),
    removeSecret: ({ id }, scope) => removeOnly(scope, id, "secret"),
    removeWebAuthNAuthenticator: ({ id, webAuthNId }, scope) =>
      remove(scope, id, "web_authn", webAuthNId),
    removeTOTPAuthenticator: ({ id, totpId }, scope) => remove(scope, id, "totp", totpId),
    removeOTPSMSAuthenticator: ({ id, otpSmsId }, scope) => remove(scope, id, "otp_sms", otpSmsId),
    removeOTPEmailAuthenticator: ({ id, otpEmailId }, scope) =>
      remove(scope, id, "otp_email", otpEmailId),
    removeIDPAuthenticator: ({ id, idpId }, scope) => remove(scope, id, "idp", idpId),
    removePersonalAccessToken: ({ id, tokenId }, scope) => remove(scope, id, "pat", tokenId),
    removePublicKey: ({ id, keyId }, scope) => remove(scope, id, "key", keyId),
  } satisfies Partial<Handlers<typeof UserService>>;
}

/** Ends these of a user, with what is kept of each. */
export function endAuthenticators(
  { deps: { secrets }, passwords, totps, recoveryCodes }: Credentials,
  { tx, ref, record }: UserInUnit,
  ending: readonly Authenticator[],
): void {
  for (const one of ending) {
    record([endOf(one)]);
    if (one.kind === "password") tx.write(passwords.remove(ref));
    if (one.kind === "totp") tx.write(totps.remove(ref, one.id));
    if (one.kind === "recovery_codes") tx.write(recoveryCodes.remove(ref));
    if (one.kind === "pat") tx.write(secrets.remove(personalAccessTokenRef(ref, one.id)));
    if (one.kind === "secret") tx.write(secrets.remove(machineSecretRef(ref)));
  }
}

/** The event by which one of them ends. */
export function endOf({ kind, id, address, isPasskey }: Authenticator): UserEvent {
  switch (kind) {
    case "password":
      return userEvents["human.password.removed"]({});
    case "web_authn": {
      const lost = { webAuthNId: id, credentialId: address };
      return userEvents[`${webAuthNEvents(isPasskey)}.removed`](lost);
    }
    case "totp":
      return userEvents["human.mfa.otp.removed"]({ totpId: id });
    case "otp_sms":
      return userEvents["human.mfa.otp.sms.removed"]({ otpSmsId: id });
    case "otp_email":
      return userEvents["human.mfa.otp.email.removed"]({ otpEmailId: id });
    case "recovery_codes":
      return userEvents["human.mfa.recovery_codes.removed"]({});
    case "idp":
      return userEvents["human.externalidp.removed"]({ idpId: id, externalUserId: address });
    case "pat":
      return userEvents["pat.removed"]({ tokenId: id });
    case "key":
      return userEvents["machine.key.removed"]({ keyId: id });
    case "secret":
      return userEvents["machine.secret.removed"]({});
  }
}
