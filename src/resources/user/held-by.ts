import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Held } from "../../authz/holds.ts";
import type { Scope } from "../../authz/context.ts";
import type { HeldBy } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { type AuthenticatorKind, onlyOne, staysProven } from "./authenticator/authenticators.ts";
import type { ContactKind } from "./contact.ts";
import { user } from "./user.ts";

/** Whom requests hold of which only some are holds on the user that they name (authority J1). */
export function usersHeldBy({ events }: Pick<Deps, "events">): HeldBy<typeof UserService> {
  const takesOver = (id: string, isHold: boolean): Held[] => (isHold ? [{ userId: id }] : []);

  // What goes to an address that the user has proven is no hold; any other may be somebody else's.
  const sends = async (id: string, kind: ContactKind, { instanceId }: Scope): Promise<Held[]> => {
    const { state } = await events.load(user, instanceId, id);
    return takesOver(id, state?.[kind]?.isVerified !== true);
  };

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
    // To lift a throttle gives nobody anything that they could not have waited for.
    async unlockUser({ id }, { instanceId }) {
      const { state } = await events.load(user, instanceId, id);
      return takesOver(id, state?.state === "locked");
    },
    requestPasswordReset: ({ id, medium }, scope) => {
      const way = medium?.medium.case;
      if (way === "returnCode") return takesOver(id, true);
      return sends(id, way === "sendSms" ? "phone" : "email", scope);
    },
    createWebAuthNRegistrationLink: ({ id, delivery }, scope) =>
      delivery?.delivery.case === "returnCode" ? takesOver(id, true) : sends(id, "email", scope),
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
