import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { service } from "../../authz/service.ts";
import { alreadyExists } from "../../errors.ts";
import { sweepExpiredRows } from "../../jobs/expired-rows.ts";
import { withinQuota } from "../instance/index.ts";
import type { Module } from "../../projection/module.ts";
import type { UserDeps } from "./ports.ts";
import { credentialUses } from "../object/credential-uses.ts";
import { accountNews } from "./account-news.ts";
import { credentialClaim, idpLinkClaim } from "./authenticator/events.ts";
import { authenticatorProjection } from "./authenticator/projection.ts";
import { attemptCounts } from "./check/attempts.ts";
import { checkEvents } from "./check/events.ts";
import { knownBrowsers } from "./check/known-browsers.ts";
import { clientIdClaim, clientIdTaken } from "./client-id.ts";
import { oneTimeCodes } from "./codes.ts";
import { messageBudgets } from "./message-budget.ts";
import { contactHandlers } from "./contact-handlers.ts";
import { userConcerns } from "./concerns.ts";
import { createCredentials } from "./credentials.ts";
import { domainClaimJobs, domainsAreClaimed } from "./domain-claims.ts";
import { externalIdClaim, userEvents, usernameClaim } from "./events.ts";
import { userAuthorize, userHandlers } from "./handlers.ts";
import { userReadHandlers } from "./read-handlers.ts";
import { userStepUp, usersHeldBy } from "./held-by.ts";
import { idpLinkHandlers } from "./idp-link/handlers.ts";
import { idpLinkJobs, linksGoWithIdps } from "./idp-link/remove-links.ts";
import { metadataEvents } from "./metadata-events.ts";
import { metadataHandlers } from "./metadata-handlers.ts";
import { metadataProjection } from "./metadata-projection.ts";
import { machineHandlers } from "./machine/handlers.ts";
import { noticeEvents } from "./notice-events.ts";
import { otpHandlers } from "./otp/handlers.ts";
import { passwordHandlers } from "./password/handlers.ts";
import { userProjection, users } from "./projection.ts";
import { removalHandlers } from "./authenticator/removal.ts";
import { recoveryHandlers } from "./recovery/handlers.ts";
import { removeContentsOfUsers } from "./remove-user.ts";
import { tokenHandlers } from "./token/handlers.ts";
import { totpHandlers } from "./totp/handlers.ts";
import { webAuthNChallenges } from "./web-authn/challenges.ts";
import { webAuthNHandlers } from "./web-authn/handlers.ts";
import { preparedGoWithPassword } from "./web-authn/prepared.ts";

export type { IntentProof, Said, UserDeps, UserPorts } from "./ports.ts";
export { type DomainClaim, domainClaimed } from "./domain-claims.ts";
export { humanAdder, type NewHuman } from "./add-human.ts";
export { activeUserReader } from "./active-user.ts";
export { userAuthenticators } from "./authenticator/projection.ts";
export { linkedUserReader } from "./idp-link/linked-user.ts";
export { usersLinkedTo } from "./authenticator/linked.ts";
export { authenticatorReader, type AuthenticatorRow } from "./authenticator/queries.ts";
export { cleanHands, type UserHold } from "./clean-hands.ts";
export { createKnownBrowsers, type KnownBrowsers } from "./check/known-browsers.ts";
export { clientIdClaim, formerClientIds, holdClientId } from "./client-id.ts";
export { clientIdIsId, idGuard, namedTypes } from "./free-id.ts";
export { type UserChecks, userChecks } from "./checks.ts";
export { canLogIn, lastsUntil, requireRoom } from "./authenticator/authenticators.ts";
export { changeContact } from "./contact.ts";
export type { Delivery } from "./codes.ts";
export { userEvents } from "./events.ts";
export { toIdpLink } from "./authenticator/convert.ts";
export { userFinder } from "./finder.ts";
export { homesReader } from "./homes.ts";
export { linkIdp } from "./idp-link/idp-link.ts";
export {
  loginNameReader,
  type UserNames,
  usernameReader,
  usernamesElsewhere,
  userNamesReader,
  verifiedContactReader,
} from "./login-name.ts";
export {
  invitationLifeMs,
  type PasskeyInvitation,
  passkeyInviter,
} from "./web-authn/invitation.ts";
export { checkedNameReader } from "./checked-name.ts";
export { storedMailAddress } from "./mail-address.ts";
export { storedPhoneNumber } from "./phone-number.ts";
export { metadata, metadataId, setMetadata } from "./metadata-events.ts";
export { userMetadata } from "./metadata-projection.ts";
export { metadataReader, profileReader, type UserProfile } from "./profile.ts";
export { users } from "./projection.ts";
export { machineCredentials } from "./machine/credentials.ts";
export { deniable, noticeJob, tellNews } from "./notice.ts";
export { type DueNotice, noticeSource, type NoticeTopic } from "./notice-source.ts";
export { createNewcomers } from "./newcomers.ts";
export type { IssuedOtp } from "./otp/otp.ts";
export { createDenials } from "./denial.ts";
export { requireMachine } from "./person.ts";
export { addRecoveryLink, recoveryLinks } from "./recovery-link.ts";
export { registrationReader } from "./registration.ts";
export { createTotpStore } from "./totp/totp.ts";
export { invalidCredentials, requirePolicy } from "./password/policy.ts";
export { createPasswordStore, passwordSecret } from "./password/stored.ts";
export { personalAccessTokenSecret, personalAccessTokens } from "./token/tokens.ts";
export {
  addPersonalAccessToken,
  addUser,
  builtInData,
  changeExternalId,
  changePassword,
  deactivateUser,
  requireUser,
  user,
  userIdTaken,
  userNotFound,
} from "./user.ts";
export { reachOf, requireVouching } from "./vouch.ts";
export type { UserVerification } from "./web-authn/challenges.ts";
export { unpreparable } from "./web-authn/prepared.ts";
export { type KnownPasskeys, knownPasskeys } from "./web-authn/known-passkeys.ts";

const expiring = [oneTimeCodes, knownBrowsers, webAuthNChallenges, credentialUses, messageBudgets];

/**
 * Users: people and machines that log in.
 * @param idpRemovals the events by which an identity provider goes, with which links to it go
 */
export const userModule = (idpRemovals: readonly string[]): Module<UserDeps> => ({
  events: [userEvents, checkEvents, noticeEvents, metadataEvents],
  projections: [userProjection, authenticatorProjection, metadataProjection],
  state: [...expiring, attemptCounts],
  claimErrors: {
    [usernameClaim]: () =>
      alreadyExists(
        "USERNAME_TAKEN",
        "a user of this name exists in the organization, in this or a like spelling",
      ),
    [externalIdClaim]: () =>
      alreadyExists(
        "EXTERNAL_ID_TAKEN",
        "another user of the organization has this external ID already",
      ),
    [clientIdClaim]: clientIdTaken,
    [credentialClaim]: () =>
      alreadyExists("WEB_AUTH_N_TAKEN", "the passkey or security key is registered already"),
    [idpLinkClaim]: () =>
      alreadyExists("IDP_LINK_TAKEN", "the account at the provider is linked to a user already"),
  },
  services: (deps) => {
    const credentials = createCredentials(deps);
    return [
      service(
        UserService,
        {
          ...userHandlers(credentials),
          ...userReadHandlers(credentials),
          ...contactHandlers(credentials),
          ...metadataHandlers(deps),
          ...passwordHandlers(credentials),
          ...webAuthNHandlers(credentials),
          ...totpHandlers(credentials),
          ...otpHandlers(credentials),
          ...recoveryHandlers(credentials),
          ...removalHandlers(credentials),
          ...idpLinkHandlers(credentials),
          ...tokenHandlers(credentials),
          ...machineHandlers(credentials),
        },
        userAuthorize(deps),
        usersHeldBy(deps),
        userStepUp,
      ),
    ];
  },
  concerns: userConcerns,
  jobs: (deps) => ({ ...idpLinkJobs(deps), ...domainClaimJobs(deps) }),
  reactions: (parts) => [
    domainsAreClaimed(parts),
    preparedGoWithPassword,
    accountNews(parts),
    linksGoWithIdps(parts, idpRemovals),
  ],
  invariants: ({ db }) => [
    withinQuota(db, {
      quota: "users",
      table: users,
      made: ["user.human.added", "user.machine.added", "user.added"],
    }),
  ],
  contents: removeContentsOfUsers,
  sweeps: (deps) => expiring.map((rows) => sweepExpiredRows(deps, rows)),
});
