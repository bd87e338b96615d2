import { rowByKey } from "../../../projection/ids.ts";
import {
  ProjectGrantFieldNameSchema,
  ProjectGrantSearchFilterSchema,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { Scope } from "../../../authz/context.ts";
import type { Deps } from "../../../projection/module.ts";
import type { Database } from "../../../storage/database.ts";
import { cachedRows, hasRow, isOneOf } from "../../../projection/rows.ts";
import { or } from "../../../storage/drizzle.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import type { Row } from "../../../storage/table.ts";
import { type GrantsOfProjects, projectOwnership, projects } from "../../project/index.ts";
import { isListed } from "../../object/filters.ts";
import { objectQueries } from "../../object/queries.ts";
import { projectGrantsByRole, projectGrants } from "./project-grant.ts";

export type ProjectGrantRow = Row<typeof projectGrants.table>;

/** What other slices ask of project grants: never older than the last write that changed any (B7). */
export function projectGrantReader(db: Database) {
  const { table } = projectGrants;
  return {
    byId: cachedRead(db, [table], rowByKey(db, table)),
    ofProject: cachedRows(db, table, "projectId"),
  };
}

/** What grants say of projects, for the slice of projects and all that is below them. */
export function grantsOfProjects(db: Database): GrantsOfProjects {
  const t = db.table(projectGrants.table);
  const { ofProject } = projectGrantReader(db);
  return {
    async ofProject(instanceId, projectId) {
      return (await ofProject(instanceId, projectId))
        .filter(({ state }) => state === "active")
        .map((grant) => ({ id: grant.id, organizationId: grant.grantedOrganizationId }));
    },
    isGranted(project, to, onlyActive) {
      const { instanceId, id: projectId } = project;
      return hasRow(
        db,
        projectGrants.table,
        { instanceId, projectId, ...(onlyActive && { state: "active" }) },
        or(isOneOf(t.grantedOrganizationId, to.organizations), isOneOf(t.id, to.projectGrants)),
      );
    },
  };
}

/** Where a project lives, and whom it is granted to: decides who may do what in it. */
export const ownedProjects = (db: Database) => projectOwnership(db, grantsOfProjects(db));

/** Who may make what belongs to a project. @throws NOT_FOUND PROJECT_NOT_FOUND */
export function requireInProject({ db, tenancy }: Pick<Deps, "db" | "tenancy">) {
  const ownedProject = ownedProjects(db);
  return async (scope: Scope, projectId = ""): Promise<void> =>
    tenancy.require(scope, await ownedProject(scope.instanceId, projectId), projects.missing);
}

export function projectGrantQueries(deps: Deps) {
  const { db, tenancy } = deps;
  const t = db.table(projectGrants.table);
  const { id, organizationId, projectId, grantedOrganizationId } = t;
  return objectQueries(
    deps,
    projectGrants.table,
    {
      filter: ProjectGrantSearchFilterSchema,
      sort: ProjectGrantFieldNameSchema,
      filters: { roleKey: (key) => isListed(db, t, projectGrantsByRole, key) },
      visible: (scope) =>
        tenancy.visible(scope, {
          organizationId,
          projectId,
          also: ({ organizations, projectGrants: grants }) =>
            or(isOneOf(grantedOrganizationId, organizations), isOneOf(id, grants)),
        }),
    },
    projectGrants.missing,
  );
}
