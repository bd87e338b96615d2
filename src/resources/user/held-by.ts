import type { PatchUser } from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Held } from "../../authz/holds.ts";
import type { Scope } from "../../authz/context.ts";
import type { HeldBy, StepUpNeeds } from "../../authz/service.ts";
import { loadIn } from "../../eventstore/load-in.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { type AuthenticatorKind, onlyOne, staysProven } from "./authenticator/authenticators.ts";
import type { ContactKind } from "./contact.ts";
import { user } from "./user.ts";

/** Whether a patch changes what others know a user by, or reach them by. */
const decidesWhoTheyAre = ({ username, externalId, contact }: PatchUser): boolean =>
  [username, externalId, contact].some((wanted) => wanted !== undefined);

type At = [scope: Scope, tx?: Transaction];

/** Whom requests hold of which only some are holds on the user that they name (J1). */
export function usersHeldBy({ events }: Pick<Deps, "events">): HeldBy<typeof UserService> {
  const load = (id: string, { instanceId }: Scope, tx?: Transaction) =>
    loadIn(events, instanceId, tx)(user, id);
  const takesOver = (id: string, isHold: boolean): Held[] => (isHold ? [{ userId: id }] : []);

  // What goes to an address that the user has proven is no hold; any other may be somebody else's.
  const sends = async (id: string, kind: ContactKind, ...at: At): Promise<Held[]> => {
    const { state } = await load(id, ...at);
    return takesOver(id, state?.[kind]?.isVerified !== true);
  };

  // A factor is taken away: of the same kind another may stay.
  const removes =
    (kind: AuthenticatorKind) =>
    async (id: string, factorId: string, ...at: At): Promise<Held[]> => {
      const { state } = await load(id, ...at);
      const stays = staysProven(state?.authenticators ?? [], kind, factorId);
      return [{ userId: id, kind: stays ? "shutOut" : "takeOver" }];
    };

  return {
    patchUser: ({ id, user: patch }) =>
      takesOver(id, patch !== undefined && decidesWhoTheyAre(patch)),
    // To lift a throttle gives nobody anything that they could not have waited for.
    async unlockUser({ id }, ...at) {
      const { state } = await load(id, ...at);
      return takesOver(id, state?.state === "locked");
    },
    requestPasswordReset: ({ id, medium }, ...at) => {
      const way = medium?.medium.case;
      if (way === "returnCode") return takesOver(id, true);
      return sends(id, way === "sendSms" ? "phone" : "email", ...at);
    },
    createWebAuthNRegistrationLink: ({ id, delivery }, ...at) =>
      delivery?.delivery.case === "returnCode" ? takesOver(id, true) : sends(id, "email", ...at),
    // A code that was sent to the user stands for them.
    setPassword: ({ id, newPassword }) =>
      takesOver(id, newPassword?.verification.case !== "verificationCode"),
    startWebAuthNRegistration: ({ id, registration }) =>
      takesOver(id, registration?.code === undefined),

    removePassword: ({ id }, ...at) => removes("password")(id, onlyOne, ...at),
    removeWebAuthNAuthenticator: ({ id, webAuthNId }, ...at) =>
      removes("web_authn")(id, webAuthNId, ...at),
    removeTOTPAuthenticator: ({ id, totpId }, ...at) => removes("totp")(id, totpId, ...at),
    removeOTPSMSAuthenticator: ({ id, otpSmsId }, ...at) => removes("otp_sms")(id, otpSmsId, ...at),
    removeOTPEmailAuthenticator: ({ id, otpEmailId }, ...at) =>
      removes("otp_email")(id, otpEmailId, ...at),
    removeIDPAuthenticator: ({ id, idpId }, ...at) => removes("idp")(id, idpId, ...at),
  };
}

/** Requests that change no way to log in, and the one that brings its own proof. */
export const userStepUp: StepUpNeeds<typeof UserService> = {
  patchUser: ({ user: patch }) => (patch && decidesWhoTheyAre(patch) ? "proven" : "none"),
  setPassword: ({ newPassword }) =>
    newPassword?.verification.case === "currentPassword" ? "passwordGiven" : "proven",
};
