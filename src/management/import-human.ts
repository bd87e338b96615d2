import {
  type UserDeps,
  humanAdder,
  invitationLifeMs,
  type PasskeyInvitation,
  passkeyInviter,
  reachOf,
} from "../resources/user/index.ts";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ManagementService } from "#gen/idsvc/management/v1/management_service_pb.ts";
import { writeContext } from "../authz/context.ts";
import type { Handlers } from "../authz/service.ts";
import { addLink } from "./import/links.ts";
import { mayOn, organizationOf } from "../authz/tenancy.ts";
import { permissionMissing } from "../authz/permissions.ts";
import { toCreatedDetails, toData, toEmail, toPassword, toPhone } from "./convert.ts";

/** The path of the page of the login that an invitation opens. */
export type PasskeyPage = (invitation: PasskeyInvitation) => string;

/**
 * Creates a person in the organization of the call (G3). The hash of a password counts in its place, without the
 * policy, and is made anew at the first login.
 *
 * @throws ALREADY_EXISTS USERNAME_TAKEN, IDP_LINK_TAKEN; NOT_FOUND IDP_NOT_FOUND
 * @throws INVALID_ARGUMENT PASSWORD_POLICY, PHONE_INVALID, RECOVERY_CODE_INVALID, and what hashes are refused for
 * @throws PERMISSION_DENIED PERMISSION_MISSING
 */
export function importHumanUser(
  deps: UserDeps,
  passkeyPage: PasskeyPage,
): Handlers<typeof ManagementService>["importHumanUser"] {
  const { events } = deps;
  const humans = humanAdder(deps);
  const invite = passkeyInviter(deps);

  return async (request, scope) => {
    const { profile, email, phone, password, hashedPassword, otpCode } = request;
    if (profile === undefined || email === undefined) {
      throw new Error("validation requires profile and email");
    }
    const organizationId = organizationOf(scope);
    if (!mayOn(scope, scope.policy.act, { organizationId })) {
      throw permissionMissing(scope.policy.act);
    }
    const changeRequired = request.passwordChangeRequired;
    const add = humans(scope.instanceId, {
      username: request.userName,
      data: toData(profile),
      email: toEmail(email),
      vouched: reachOf(scope),
      phone: toPhone(phone, "phone.phone"),
      password: toPassword(password, hashedPassword, { changeRequired, prefix: "" }),
      totpSecret: otpCode === "" ? undefined : otpCode,
      recoveryCodes: request.recoveryCodes,
      hasOtherWay: request.requestPasswordlessRegistration,
    });
    const at = { instanceId: scope.instanceId, organizationId };
    const [written, invitation] = await events.transact(writeContext(scope), async (tx) => {
      const loaded = await add(tx, organizationId);
      for (const link of request.idps) await addLink(tx, deps, at, loaded.id, link);
      const isInvited = request.requestPasswordlessRegistration;
      const invited = isInvited ? await invite(tx, loaded) : undefined;
      return [tx.written(loaded), invited];
    });
    const { id: userId } = written();
    return {
      userId,
      details: toCreatedDetails(written()),
      passwordlessRegistration: invitation && {
        link: `${scope.issuer}${passkeyPage(invitation)}`,
        lifetime: durationFromMs(invitationLifeMs),
        expiration: timestampFromDate(invitation.expiresAt),
      },
    };
  };
}
