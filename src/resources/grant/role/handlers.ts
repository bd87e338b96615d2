import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { writeContext } from "../../../authz/context.ts";
import type { Authorize, Handlers } from "../../../authz/service.ts";
import type { Deps } from "../../../projection/module.ts";
import { plainAuthorize, plainHandlers } from "../../object/plain.ts";
import { requireInProject, requireProject } from "../../project/index.ts";
import { deleteRole } from "../delete-role.ts";
import { roleQueries } from "./queries.ts";
import { roles } from "./role.ts";

type Service = typeof RoleService;

export function roleAuthorize(deps: Deps): Authorize<Service> {
  const requireProjectOf = requireInProject(deps);
  return {
    ...plainAuthorize(deps, RoleService, roleQueries(deps).find, roles.missing),
    createRole: ({ role: wanted }, scope) => requireProjectOf(scope, wanted?.projectId),
  };
}

export const roleHandlers = (deps: Deps): Handlers<Service> => ({
  ...plainHandlers(deps, RoleService, roles, {
    methods: ["createRole", "patchRole", "getRole", "searchRoles"],
    queries: roleQueries(deps),
    async makeIn(tx, _, { projectId }) {
      const { organizationId } = await requireProject(tx, String(projectId));
      return { type: "org", id: organizationId };
    },
  }),

  deleteRole: ({ id }, scope) => deleteRole(deps, writeContext(scope), id),
});
