import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { service } from "../../authz/service.ts";
import type { Module } from "../../projection/module.ts";
import { removeContentsOfProjects } from "./delete-project.ts";
import { projectEvents } from "./events.ts";
import type { Database } from "../../storage/database.ts";
import type { GrantsOfProjects } from "./queries.ts";
import { projectAuthorize, projectHandlers } from "./handlers.ts";
import { projectProjection } from "./projection.ts";
import { serviceProjectStays } from "./service-project.ts";

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
  type GrantsOfProjects,
  isInActiveProject,
  projectOwnership,
  type ProjectReader,
  projectReader,
} from "./queries.ts";

/** Projects: what apps and roles belong to. */
export const projectModule = (grantsIn: (db: Database) => GrantsOfProjects): Module => ({
  events: [projectEvents],
  projections: [projectProjection],
  services(deps) {
    const grants = grantsIn(deps.db);
    return [service(ProjectService, projectHandlers(deps, grants), projectAuthorize(deps, grants))];
  },
  invariants: () => [serviceProjectStays],
  contents: removeContentsOfProjects,
});
