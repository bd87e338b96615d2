import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetProjectGrantSchema } from "#gen/idsvc/resources/grant/v3alpha/project_grant_pb.ts";
import type { ProjectGrantService } from "#gen/idsvc/resources/grant/v3alpha/project_grant_service_pb.ts";
import { type Scope, writeContext } from "../../../authz/context.ts";
import { permissionMissing } from "../../../authz/permissions.ts";
import { userGranting } from "../../../authz/roles.ts";
import { cachedResponse } from "../../../authz/response-cache.ts";
import type { Authorize, Handlers } from "../../../authz/service.ts";
import { execute } from "../../../eventstore/transaction.ts";
import type { Deps } from "../../../projection/module.ts";
import { listing } from "../../object/queries.ts";
import { toDetails, toOrganizationOwnedDetails } from "../../object/details.ts";
import { toState } from "../../object/filters.ts";
import { mayOn, type Owned } from "../../../authz/tenancy.ts";
import { requireOrganization } from "../../org/index.ts";
import { projectNotFound, requireProject } from "../../project/index.ts";
import { ownedProjects } from "./queries.ts";
import { deleteProjectGrant } from "../delete-project-grant.ts";
import { patchProjectGrant } from "../patch-project-grant.ts";
import { requireRolesOfProject } from "../require-roles.ts";
import {
  acceptProjectGrant,
  activateProjectGrant,
  addProjectGrant,
  deactivateProjectGrant,
  declineProjectGrant,
  projectGrant,
  projectGrantNotFound,
} from "./project-grant.ts";
import { acceptanceReader } from "./acceptance.ts";
import { type ProjectGrantRow, projectGrantQueries } from "./queries.ts";

type Service = typeof ProjectGrantService;

export function projectGrantAuthorize(deps: Deps): Authorize<Service> {
  const { tenancy } = deps;
  const queries = projectGrantQueries(deps);
  const ownedProject = ownedProjects(deps.db);
  const named = async ({ id }: { id: string }, scope: Scope) => {
    const row = await queries.find(scope.instanceId, id);
    await tenancy.require(scope, row && ownedBy(row), projectGrantNotFound);
  };
  // For the organization that has it; who answers for the project may read it, and no more.
  const granted = async ({ id }: { id: string }, scope: Scope) => {
    const row = await queries.find(scope.instanceId, id);
    if (row === undefined) throw projectGrantNotFound();
    const { act, read } = scope.policy;
    const { organizationId, projectId } = row;
    const there = { organizationId: row.grantedOrganizationId };
    if (mayOn(scope, act, there)) return tenancy.require(scope, there, projectGrantNotFound);
    const readable = [
      { ...there, projectGrantId: row.id },
      { organizationId, projectId },
    ];
    const mayRead = readable.some((owned) => mayOn(scope, read, owned));
    throw mayRead ? permissionMissing(act) : projectGrantNotFound();
  };
  return {
    acceptProjectGrant: granted,
    declineProjectGrant: granted,
    async createProjectGrant({ projectGrant: wanted }, scope) {
      const owned = await ownedProject(scope.instanceId, wanted?.projectId ?? "");
      await tenancy.require(scope, owned, projectNotFound);
    },
    patchProjectGrant: named,
    deactivateProjectGrant: named,
    activateProjectGrant: named,
    deleteProjectGrant: named,
    getProjectGrant: named,
  };
}

// Whom it was given to may read it, in whatever state it is.
const ownedBy = (row: ProjectGrantRow): Owned => ({
  organizationId: row.organizationId,
  projectId: row.projectId,
  grants: [{ id: row.id, organizationId: row.grantedOrganizationId }],
});

export function projectGrantHandlers(deps: Deps): Handlers<Service> {
  const { db, events, newId } = deps;
  const queries = projectGrantQueries(deps);
  const isAccepted = acceptanceReader(db, deps.memberships);
  const responseOf = cachedResponse((row: ProjectGrantRow) => ({
    projectGrant: toGetProjectGrant(row, row.accepted),
  }));

  return {
    async createProjectGrant({ projectGrant: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the project grant");
      const { projectId, grantedOrganizationId, roleKeys } = wanted;
      const field = "project_grant.role_keys";
      const written = await events.transact(writeContext(scope), async (tx) => {
        const { organizationId } = await requireProject(tx, projectId);
        await requireOrganization(tx, grantedOrganizationId);
        await requireRolesOfProject(db, tx, scope.instanceId, projectId, roleKeys, field);
        const loaded = tx.begin(projectGrant, newId());
        const config = { projectId, grantedOrganizationId, roleKeys };
        const added = addProjectGrant(loaded.state, config);
        tx.record(projectGrant, loaded, added, { type: "org", id: organizationId });
        // Whoever could accept it wants it.
        const organization = { type: "organization", id: grantedOrganizationId } as const;
        if (scope.permissions.holds(userGranting, organization)) {
          tx.record(projectGrant, loaded, acceptProjectGrant(loaded.state));
        }
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async patchProjectGrant({ id, projectGrant: patch }, scope) {
      const roleKeys = patch?.roleKeys ?? [];
      const at = writeContext(scope);
      return { details: toDetails(await patchProjectGrant(deps, at, id, roleKeys)) };
    },

    async deactivateProjectGrant({ id }, scope) {
      const at = writeContext(scope);
      return {
        details: toDetails(
          await execute(events.transact, at, projectGrant, { id }, deactivateProjectGrant),
        ),
      };
    },

    async activateProjectGrant({ id }, scope) {
      const at = writeContext(scope);
      return {
        details: toDetails(
          await execute(events.transact, at, projectGrant, { id }, activateProjectGrant),
        ),
      };
    },

    async acceptProjectGrant({ id }, scope) {
      const at = writeContext(scope);
      return {
        details: toDetails(
          await execute(events.transact, at, projectGrant, { id }, acceptProjectGrant),
        ),
      };
    },

    async declineProjectGrant({ id }, scope) {
      const at = writeContext(scope);
      return {
        details: toDetails(
          await execute(events.transact, at, projectGrant, { id }, declineProjectGrant),
        ),
      };
    },

    async deleteProjectGrant({ id }, scope) {
      return { details: toDetails(await deleteProjectGrant(deps, writeContext(scope), id)) };
    },

    async getProjectGrant({ id }, { instanceId }) {
      const row = await queries.find(instanceId, id);
      if (row === undefined) throw projectGrantNotFound();
      if (!row.isFormer) return responseOf(row);
      return { projectGrant: toGetProjectGrant(row, await isAccepted(row)) };
    },

    searchProjectGrants: listing(queries.search, async (row) =>
      toGetProjectGrant(row, await isAccepted(row)),
    ),
  };
}

const toGetProjectGrant = (
  row: ProjectGrantRow,
  accepted: boolean,
): MessageInitShape<typeof GetProjectGrantSchema> => ({
  details: toOrganizationOwnedDetails(row),
  state: toState(row.state),
  projectGrant: {
    projectId: row.projectId,
    grantedOrganizationId: row.grantedOrganizationId,
    roleKeys: row.roleKeys,
  },
  accepted,
});
