import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { service } from "../../authz/service.ts";
import { alreadyExists } from "../../errors.ts";
import type { Module } from "../../projection/module.ts";
import { oneTimeCodes } from "./codes.ts";
import { contactHandlers } from "./contact-handlers.ts";
import { userEvents, usernameClaim } from "./events.ts";
import { userAuthorize, userHandlers } from "./handlers.ts";
import { metadataEvents } from "./metadata-events.ts";
import { metadataHandlers } from "./metadata-handlers.ts";
import { metadataProjection } from "./metadata-projection.ts";
import { userProjection } from "./projection.ts";
import { removeContentsOfUsers } from "./remove-user.ts";

export { clientIdClaim, holdClientId } from "./client-id.ts";
export { passwordSecret, personalAccessTokenSecret } from "./credentials.ts";
export { changeContact } from "./contact.ts";
export { metadata } from "./metadata-events.ts";
export { users } from "./projection.ts";
export { personalAccessTokens } from "./tokens.ts";
export {
  addPersonalAccessToken,
  addUser,
  builtInData,
  changePassword,
  requireUser,
  user,
  userNotFound,
} from "./user.ts";

/** Users: people and machines that log in (resources, Users). */
export const userModule: Module = {
  events: [userEvents, metadataEvents],
  projections: [userProjection, metadataProjection],
  state: [oneTimeCodes],
  claimErrors: {
    [usernameClaim]: () =>
      alreadyExists(
        "USERNAME_TAKEN",
        "a user of this name exists in the organization, in this or a like spelling",
      ),
  },
  services: (deps) => [
    service(
      UserService,
      { ...userHandlers(deps), ...contactHandlers(deps), ...metadataHandlers(deps) },
      userAuthorize(deps),
    ),
  ],
  contents: removeContentsOfUsers,
};
