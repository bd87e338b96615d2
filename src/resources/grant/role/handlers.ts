import { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import type { Authorize, Handlers } from "../../../authz/service.ts";
import type { Deps } from "../../../projection/module.ts";
import { toDetails } from "../../object/details.ts";

import { projectNotFound, requireProject } from "../../project/index.ts";
import { ownedProjects } from "../project-grant/queries.ts";
import { deleteRole } from "../delete-role.ts";
import { roleQueries } from "./queries.ts";
import { roles } from "./role.ts";

import { plainHandlers } from "../../object/plain.ts";

type Service = typeof RoleService;

export function roleAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const queries = roleQueries(deps);
  const ownedProject = ownedProjects(deps.db);
  const named = async ({ id }: { id: string }, scope: Scope) =>
    tenancy.require(scope, await queries.find(scope.instanceId, id), roles.missing);
  return {
    async createRole({ role: wanted }, scope) {
      const owned = await ownedProject(scope.instanceId, wanted?.projectId ?? "");
      await tenancy.require(scope, owned, projectNotFound);
    },
    patchRole: named,
    deleteRole: named,
    getRole: named,
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

  async deleteRole({ id }, scope) {
    return { details: toDetails(await deleteRole(deps, writeContext(scope), id)) };
  },
});
