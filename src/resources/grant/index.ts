import { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { UserGrantService } from "#gen/idsvc/resources/grant/v3alpha/user_grant_service_pb.ts";
import { service } from "../../authz/service.ts";
import { resourceModule } from "../object/module.ts";
import { projectGrantAuthorize, projectGrantHandlers } from "./project-grant/handlers.ts";
import { projectGrants } from "./project-grant/project-grant.ts";
import {
  grantsGoWithProject,
  grantsGoWithUser,
  removeContentsOfGrants,
} from "./remove-contents.ts";
import { roleAuthorize, roleHandlers } from "./role/handlers.ts";
import { roles } from "./role/role.ts";
import { userGrantAuthorize, userGrantHandlers } from "./user-grant/handlers.ts";
import { userGrants } from "./user-grant/user-grant.ts";

export { addProjectGrant, projectGrantEnds, projectGrants } from "./project-grant/project-grant.ts";
export { projectGrantsOf } from "./project-grant/queries.ts";
export { requireKeys, roles } from "./role/role.ts";
export { userGrants } from "./user-grant/user-grant.ts";
export { userGrantsOf } from "./user-grant/power.ts";

/** Roles of projects, and who has them: organizations by project grants, users by user grants. */
export const grantModule = resourceModule([roles, projectGrants, userGrants], {
  services: (deps) => [
    service(RoleService, roleHandlers(deps), roleAuthorize(deps)),
    service(ProjectGrantService, projectGrantHandlers(deps), projectGrantAuthorize(deps)),
    service(UserGrantService, userGrantHandlers(deps), userGrantAuthorize(deps)),
  ],
  reactions: (parts) => [grantsGoWithProject(parts), grantsGoWithUser(parts)],
  contents: removeContentsOfGrants,
});
