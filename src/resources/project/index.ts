import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { removeContentsOfProjects } from "./delete-project.ts";
import { projectEvents } from "./events.ts";
import { projectAuthorize, projectHandlers } from "./handlers.ts";
import { projectProjection } from "./projection.ts";

export {
  addProject,
  deactivateProject,
  project,
  projectNotFound,
  requireProject,
} from "./project.ts";
export { projects } from "./projection.ts";
export {
  type FoundProject,
  isInActiveProject,
  type ProjectReader,
  projectReader,
} from "./queries.ts";

/** Projects: what apps and roles belong to. */
export const projectModule: Module = {
  events: [projectEvents],
  projections: [projectProjection],
  services: (deps) => [service(ProjectService, projectHandlers(deps), projectAuthorize(deps))],
  contents: removeContentsOfProjects,
};
