import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetRoleSchema } from "#gen/idsvc/resources/grant/v3alpha/role_pb.ts";
import type { RoleService } from "#gen/idsvc/resources/grant/v3alpha/role_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import { cachedResponse } from "../../../authz/response-cache.ts";
import type { Authorize, Handlers } from "../../../authz/service.ts";
import { execute } from "../../../eventstore/transaction.ts";
import type { Deps } from "../../../projection/module.ts";
import { listing } from "../../object/queries.ts";
import { toDetails, toOrganizationOwnedDetails } from "../../object/details.ts";

import { projectNotFound, requireProject } from "../../project/index.ts";
import { ownedProjects } from "../project-grant/queries.ts";
import { deleteRole } from "../delete-role.ts";
import { type RoleRow, roleQueries } from "./queries.ts";
import { addRole, patchRole, role, roleNotFound } from "./role.ts";

type Service = typeof RoleService;

export function roleAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const queries = roleQueries(deps);
  const ownedProject = ownedProjects(deps.db);
  const named = async ({ id }: { id: string }, scope: Scope) =>
    tenancy.require(scope, await queries.find(scope.instanceId, id), roleNotFound);
  return {
    async createRole({ role: wanted }, scope) {
      const place = await ownedProject(scope.instanceId, wanted?.projectId ?? "");
      await tenancy.require(scope, place, projectNotFound);
    },
    patchRole: named,
    deleteRole: named,
    getRole: named,
  };
}

export function roleHandlers(deps: Deps): Handlers<Service> {
  const { events, newId } = deps;
  const queries = roleQueries(deps);
  const told = cachedResponse((row: RoleRow) => ({ role: toGetRole(row) }));

  return {
    async createRole({ role: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the role");
      const { projectId, key, displayName, group } = wanted;
      const written = await events.transact(writeContext(scope), async (tx) => {
        const { organizationId } = await requireProject(tx, projectId);
        const loaded = tx.begin(role, newId());
        const added = addRole(loaded.state, { projectId, key, displayName, group });
        tx.record(role, loaded, added, { type: "org", id: organizationId });
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async patchRole({ id, role: patch }, scope) {
      const changes = { displayName: patch?.displayName, group: patch?.group };
      const written = await execute(events.transact, writeContext(scope), role, { id }, (state) =>
        patchRole(state, changes),
      );
      return { details: toDetails(written) };
    },

    async deleteRole({ id }, scope) {
      return { details: toDetails(await deleteRole(deps, writeContext(scope), id)) };
    },

    async getRole({ id }, { instanceId }) {
      const row = await queries.find(instanceId, id);
      if (row === undefined) throw roleNotFound();
      return told(row);
    },

    searchRoles: listing(queries.search, toGetRole),
  };
}

const toGetRole = (row: RoleRow): MessageInitShape<typeof GetRoleSchema> => ({
  details: toOrganizationOwnedDetails(row),
  role: {
    projectId: row.projectId,
    key: row.key,
    displayName: row.displayName,
    group: row.groupName,
  },
});
