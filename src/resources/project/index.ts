import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { service } from "../../authz/service.ts";
import { resourceModule } from "../object/module.ts";
import { removeContentsOfProjects } from "./delete-project.ts";
import type { Database } from "../../storage/database.ts";
import type { GrantsOfProjects } from "./queries.ts";
import { projectAuthorize, projectHandlers } from "./handlers.ts";
import { projects } from "./project.ts";
import { serviceProjectStays } from "./service-project.ts";

export { deactivateProject, projects, requireProject } from "./project.ts";
export {
  type GrantsOfProjects,
  isInActiveProject,
  projectFinder,
  projectOwnership,
  projectReader,
} from "./queries.ts";

/** Projects: what apps and roles belong to. */
export const projectModule = (grantsIn: (db: Database) => GrantsOfProjects) =>
  resourceModule([projects], {
    services(deps) {
      const grants = grantsIn(deps.db);
      return [
        service(ProjectService, projectHandlers(deps, grants), projectAuthorize(deps, grants)),
      ];
    },
    invariants: () => [serviceProjectStays],
    contents: removeContentsOfProjects,
  });
