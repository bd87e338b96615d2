import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ProjectService } from "#gen/idsvc/resources/project/v3alpha/project_service_pb.ts";
import type {
  GetProjectSchema,
  PatchProject,
  Project as ProjectMessage,
} from "#gen/idsvc/resources/project/v3alpha/project_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import { cachedResponse } from "../../authz/response-cache.ts";
import type { Authorize, Handlers } from "../../authz/service.ts";
import type { Patch } from "../../eventstore/aggregate.ts";
import { execute } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { listing } from "../object/queries.ts";
import { toDetails, toOrganizationOwnedDetails } from "../object/details.ts";
import { toState } from "../object/filters.ts";
import { mayOn, organizationOf } from "../../authz/tenancy.ts";
import { permissionMissing } from "../../authz/permissions.ts";
import { requireOrganization } from "../org/index.ts";
import { deleteProject } from "./delete-project.ts";
import { isServiceProject } from "./service-project.ts";
import type { ProjectConfig, ProjectEvent } from "./events.ts";
import {
  activateProject,
  addProject,
  deactivateProject,
  patchProject,
  project,
  projectNotFound,
} from "./project.ts";
import {
  type GrantsOfProjects,
  projectOwnership,
  projectQueries,
  type ProjectRow,
} from "./queries.ts";

type Service = typeof ProjectService;

export function projectAuthorize(deps: Deps, grants: GrantsOfProjects): Authorize<Service> {
  const { tenancy } = deps;
  const owned = projectOwnership(deps.db, grants);
  const named = async ({ id }: { id: string }, scope: Scope) =>
    tenancy.require(scope, await owned(scope.instanceId, id), projectNotFound);
  return {
    async createProject(_, scope) {
      const { act } = scope.policy;
      const place = { organizationId: organizationOf(scope) };
      if (!mayOn(scope, act, place)) throw permissionMissing(act);
    },
    patchProject: named,
    deactivateProject: named,
    activateProject: named,
    deleteProject: named,
    getProject: named,
  };
}

export function projectHandlers(deps: Deps, grants: GrantsOfProjects): Handlers<Service> {
  const { events, newId } = deps;
  const queries = projectQueries(deps, grants);
  const told = cachedResponse((row: ProjectRow) => ({
    project: toGetProject(row),
  }));

  return {
    async createProject({ project: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the project");
      const organizationId = organizationOf(scope);
      const written = await events.transact(writeContext(scope), async (tx) => {
        await requireOrganization(tx, organizationId);
        const loaded = tx.begin(project, newId());
        const added = addProject(loaded.state, toConfig(wanted));
        tx.record(project, loaded, added, { type: "org", id: organizationId });
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async patchProject({ id, project: patch }, scope) {
      return change(scope, id, (state) => patchProject(state, toChanges(patch)));
    },

    async deactivateProject({ id }, scope) {
      return change(scope, id, async (state, tx) =>
        deactivateProject(state, await isServiceProject(tx, scope.instanceId, id)),
      );
    },

    async activateProject({ id }, scope) {
      return change(scope, id, activateProject);
    },

    async deleteProject({ id }, scope) {
      return { details: toDetails(await deleteProject(deps, writeContext(scope), id)) };
    },

    async getProject({ id }, { instanceId }) {
      return told(await queries.get(instanceId, id));
    },

    searchProjects: listing(queries.search, toGetProject),
  };

  async function change(scope: Scope, id: string, decide: Decision) {
    const written = await execute(events.transact, writeContext(scope), project, { id }, decide);
    return { details: toDetails(written) };
  }
}

type Decision = Parameters<typeof execute<typeof project.initial, ProjectEvent>>[4];

const toConfig = (message: ProjectMessage): ProjectConfig => ({
  name: message.name,
  roleAssertion: message.roleAssertion,
  authorizationRequired: message.authorizationRequired,
  projectAccessRequired: message.projectAccessRequired,
});

const toChanges = (patch: PatchProject | undefined): Patch<ProjectConfig> => ({
  name: patch?.name,
  roleAssertion: patch?.roleAssertion,
  authorizationRequired: patch?.authorizationRequired,
  projectAccessRequired: patch?.projectAccessRequired,
});

const toGetProject = (row: ProjectRow): MessageInitShape<typeof GetProjectSchema> => ({
  details: toOrganizationOwnedDetails(row),
  state: toState(row.state),
  project: {
    name: row.name,
    roleAssertion: row.roleAssertion,
    authorizationRequired: row.authorizationRequired,
    projectAccessRequired: row.projectAccessRequired,
  },
});
