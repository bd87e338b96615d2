import { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { service } from "../../authz/service.ts";
import { alreadyExists } from "../../errors.ts";
import { resourceModule } from "../object/module.ts";
import { projectGrantClaim, projectGrantEvents } from "./project-grant/events.ts";
import { projectGrantAuthorize, projectGrantHandlers } from "./project-grant/handlers.ts";
import { projectGrantProjection } from "./project-grant/projection.ts";
import {
  grantsGoWithProject,
  grantsGoWithUser,
  removeContentsOfGrants,
} from "./remove-contents.ts";
import { roleAuthorize, roleHandlers } from "./role/handlers.ts";
import { roles } from "./role/role.ts";
import { userGrantClaim, userGrantEvents } from "./user-grant/events.ts";
import { userGrantAuthorize, userGrantHandlers } from "./user-grant/handlers.ts";
import { userGrantProjection } from "./user-grant/projection.ts";

export {
  addProjectGrant,
  deactivateProjectGrant,
  projectGrant,
  projectGrantNotFound,
  requireProjectGrant,
} from "./project-grant/project-grant.ts";
export { acceptanceReader } from "./project-grant/acceptance.ts";
export { projectGrantClaim } from "./project-grant/events.ts";
export { projectGrants } from "./project-grant/projection.ts";
export {
  type FoundProjectGrant,
  grantsOfProjects,
  ownedProjects,
  type ProjectGrantReader,
  projectGrantReader,
} from "./project-grant/queries.ts";
export { requireKeys, roles } from "./role/role.ts";
export { userGrantClaim } from "./user-grant/events.ts";
export { userGrants } from "./user-grant/projection.ts";
export { addUserGrant, deactivateUserGrant, userGrant } from "./user-grant/user-grant.ts";
export { type FoundUserGrant, userGrantsOf } from "./user-grant/queries.ts";

/** Roles of projects, and who has them: organizations by project grants, users by user grants. */
export const grantModule = resourceModule([roles], {
  events: [projectGrantEvents, userGrantEvents],
  projections: [projectGrantProjection, userGrantProjection],
  claimErrors: {
    [projectGrantClaim]: () =>
      alreadyExists("PROJECT_GRANT_EXISTS", "the project is granted to this organization already"),
    [userGrantClaim]: () =>
      alreadyExists(
        "USER_GRANT_EXISTS",
        "the user has a grant of this project already: patch that one",
      ),
  },
  services: (deps) => [
    service(RoleService, roleHandlers(deps), roleAuthorize(deps)),
    service(ProjectGrantService, projectGrantHandlers(deps), projectGrantAuthorize(deps)),
    service(UserGrantService, userGrantHandlers(deps), userGrantAuthorize(deps)),
  ],
  reactions: (parts) => [grantsGoWithProject(parts), grantsGoWithUser(parts)],
  contents: removeContentsOfGrants,
});
