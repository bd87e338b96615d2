import { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import { writeContext } from "../../authz/context.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { deleteProject } from "./delete-project.ts";
import { isServiceProject } from "./service-project.ts";
import { deactivateProject, projects } from "./project.ts";
import { changing, inOrganization, plainAuthorize, plainHandlers } from "../object/plain.ts";
import { projectOwnership, projectQueries } from "./queries.ts";

type Service = typeof ProjectService;

export const projectAuthorize = (deps: Deps): Authorize<Service> =>
  plainAuthorize(deps, ProjectService, projectOwnership(deps), projects.missing);

export function projectHandlers(deps: Deps): Handlers<Service> {
  const change = changing(deps, projects.aggregate);
  return {
    ...plainHandlers(deps, ProjectService, projects, {
      methods: [
        ...(["createProject", "patchProject", "activateProject"] as const),
        ...(["getProject", "searchProjects"] as const),
      ],
      queries: projectQueries(deps),
      makeIn: inOrganization(deps),
    }),

    deactivateProject: ({ id }, scope) =>
      change(scope, id, async (state, tx) =>
        deactivateProject(state, await isServiceProject(tx, scope.instanceId, id)),
      ),

    deleteProject: ({ id }, scope) => deleteProject(deps, writeContext(scope), id),
  };
}
