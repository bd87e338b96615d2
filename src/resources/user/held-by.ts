import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Held } from "../../authz/holds.ts";
import type { Scope } from "../../authz/context.ts";
import type { HeldBy } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { type AuthenticatorKind, onlyOne, staysProven } from "./authenticator/authenticators.ts";
import { user } from "./user.ts";

/** Whom requests hold of which only some are holds on the user that they name (authority J1). */
export function usersHeldBy({ events }: Pick<Deps, "events">): HeldBy<typeof UserService> {
  const takesOver = (id: string, isHold: boolean): Held[] => (isHold ? [{ userId: id }] : []);

  // A factor is taken away: of the same kind another may stay.
  const removes =
    (kind: AuthenticatorKind) =>
    async (id: string, factorId: string, { instanceId }: Scope): Promise<Held[]> => {
      const { state } = await events.load(user, instanceId, id);
      const stays = staysProven(state?.authenticators ?? [], kind, factorId);
      return [{ userId: id, kind: stays ? "shutOut" : "takeOver" }];
    };

  return {
    patchUser: ({ id, user: patch }) =>
      takesOver(id, patch?.username !== undefined || patch?.contact !== undefined),
    // What goes to the user's own address is no hold; what is returned is.
    resendContactEmailCode: ({ id, code }) => takesOver(id, code?.delivery.case === "returnCode"),
    resendContactPhoneCode: ({ id, code }) => takesOver(id, code?.delivery.case === "returnCode"),
    requestPasswordReset: ({ id, medium }) => takesOver(id, medium?.medium.case === "returnCode"),
    createWebAuthNRegistrationLink: ({ id, delivery }) =>
      takesOver(id, delivery?.delivery.case === "returnCode"),
    // A code that was sent to the user stands for them.
    setPassword: ({ id, newPassword }) =>
      takesOver(id, newPassword?.verification.case !== "verificationCode"),
    startWebAuthNRegistration: ({ id, registration }) =>
      takesOver(id, registration?.code === undefined),

    removePassword: ({ id }, scope) => removes("password")(id, onlyOne, scope),
    removeWebAuthNAuthenticator: ({ id, webAuthNId }, scope) =>
      removes("web_authn")(id, webAuthNId, scope),
    removeTOTPAuthenticator: ({ id, totpId }, scope) => removes("totp")(id, totpId, scope),
    removeOTPSMSAuthenticator: ({ id, otpSmsId }, scope) => removes("otp_sms")(id, otpSmsId, scope),
    removeOTPEmailAuthenticator: ({ id, otpEmailId }, scope) =>
      removes("otp_email")(id, otpEmailId, scope),
    removeIDPAuthenticator: ({ id, idpId }, scope) => removes("idp")(id, idpId, scope),
  };
}
