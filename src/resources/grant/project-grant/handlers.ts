import { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import { permissionMissing } from "../../../authz/permissions.ts";
import { userGranting } from "../../../authz/roles.ts";
import { cachedResponse } from "../../../authz/response-cache.ts";
import { type Authorize, authorizeById, type Handlers } from "../../../authz/service.ts";
import type { Deps } from "../../../projection/module.ts";
import { listing } from "../../object/queries.ts";
import { mayOn } from "../../../authz/tenancy.ts";
import { answering, changing, plainHandlers, toMessage } from "../../object/plain.ts";
import { requireOrganization } from "../../org/index.ts";
import { requireInProject, requireProject } from "../../project/index.ts";
import { deleteProjectGrant } from "../delete-project-grant.ts";
import { patchProjectGrant } from "../patch-project-grant.ts";
import { requireRolesOfProject } from "../role/queries.ts";
import {
  acceptProjectGrant,
  addProjectGrant,
  declineProjectGrant,
  projectGrants,
} from "./project-grant.ts";
import { acceptanceReader } from "./acceptance.ts";
import { type ProjectGrantRow, projectGrantQueries } from "./queries.ts";

type Service = typeof ProjectGrantService;

export function projectGrantAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const { find, get } = projectGrantQueries(deps);
  const requireProjectOf = requireInProject(deps);
  // For the organization that has it; who answers for the project may read it, and no more.
  const granted = async ({ id }: { id: string }, scope: Scope) => {
    const row = await get(scope.instanceId, id);
    const { act, read } = scope.policy;
    const { organizationId, projectId } = row;
    const there = { organizationId: row.grantedOrganizationId };
    if (mayOn(scope, act, there)) return tenancy.require(scope, there, projectGrants.missing);
    const readable = [
      { ...there, projectGrantId: row.id },
      { organizationId, projectId },
    ];
    const mayRead = readable.some((owned) => mayOn(scope, read, owned));
    throw mayRead ? permissionMissing(act) : projectGrants.missing();
  };
  return {
    ...authorizeById(ProjectGrantService, async ({ id }, scope) => {
      const row = await find(scope.instanceId, id);
      await tenancy.require(scope, row && ownedBy(row), projectGrants.missing);
    }),
    acceptProjectGrant: granted,
    declineProjectGrant: granted,
    createProjectGrant: ({ projectGrant: wanted }, scope) =>
      requireProjectOf(scope, wanted?.projectId),
  };
}

// Whom it was given to may read it, in whatever state it is.
const ownedBy = (row: ProjectGrantRow) => ({
  organizationId: row.organizationId,
  projectId: row.projectId,
  grants: [{ id: row.id, organizationId: row.grantedOrganizationId }],
});

export function projectGrantHandlers(deps: Deps): Handlers<Service> {
  const { db, newId } = deps;
  const answer = answering(deps);
  const queries = projectGrantQueries(deps);
  const isAccepted = acceptanceReader(db, deps.memberships);
  const change = changing(deps, projectGrants.aggregate);
  const toResult = (row: ProjectGrantRow, accepted: boolean) => ({
    ...toMessage(projectGrants)(row),
    accepted,
  });
  const responseOf = cachedResponse((row: ProjectGrantRow) => ({
    projectGrant: toResult(row, row.accepted),
  }));

  return {
    ...plainHandlers(deps, ProjectGrantService, projectGrants, {
      methods: ["deactivateProjectGrant", "activateProjectGrant"],
    }),
    acceptProjectGrant: ({ id }, scope) => change(scope, id, acceptProjectGrant),
    declineProjectGrant: ({ id }, scope) => change(scope, id, declineProjectGrant),

    async createProjectGrant({ projectGrant: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the project grant");
      const { projectId, grantedOrganizationId, roleKeys } = wanted;
      const { aggregate } = projectGrants;
      const field = "project_grant.role_keys";
      return answer(writeContext(scope), async (tx) => {
        const { organizationId } = await requireProject(tx, projectId);
        await requireOrganization(tx, grantedOrganizationId);
        await requireRolesOfProject(db, tx, scope.instanceId, projectId, roleKeys, field);
        const loaded = tx.begin(aggregate, newId());
        const config = { projectId, grantedOrganizationId, roleKeys };
        const added = addProjectGrant(loaded.state, config);
        tx.record(aggregate, loaded, added, { type: "org", id: organizationId });
        // Whoever could accept it wants it.
        const organization = { type: "organization", id: grantedOrganizationId } as const;
        if (scope.permissions.holds(userGranting, organization)) {
          tx.record(aggregate, loaded, acceptProjectGrant(loaded.state));
        }
        return { written: tx.written(loaded) };
      });
    },

    patchProjectGrant: ({ id, projectGrant: patch }, scope) =>
      patchProjectGrant(deps, writeContext(scope), id, patch?.roleKeys ?? []),
    deleteProjectGrant: ({ id }, scope) => deleteProjectGrant(deps, writeContext(scope), id),

    async getProjectGrant({ id }, { instanceId }) {
      const row = await queries.get(instanceId, id);
      if (!row.isFormer) return responseOf(row);
      return { projectGrant: toResult(row, await isAccepted(row)) };
    },

    searchProjectGrants: listing(queries.search, async (row) =>
      toResult(row, await isAccepted(row)),
    ),
  };
}
