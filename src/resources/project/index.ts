import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { service } from "../../authz/service.ts";
import { resourceModule } from "../object/module.ts";
import { removeContentsOfProjects } from "./delete-project.ts";
import { projectAuthorize, projectHandlers } from "./handlers.ts";
import { projects } from "./project.ts";
import { serviceProjectStays } from "./service-project.ts";

export { deactivateProject, projects, requireProject } from "./project.ts";
export {
  isInActiveProject,
  projectFinder,
  projectOwnership,
  projectReader,
  requireInProject,
} from "./queries.ts";

/** Projects: what apps and roles belong to. */
export const projectModule = resourceModule([projects], {
  services: (deps) => [service(ProjectService, projectHandlers(deps), projectAuthorize(deps))],
  invariants: () => [serviceProjectStays],
  contents: removeContentsOfProjects,
});
