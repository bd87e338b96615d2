import type { Awaitable } from "../../../awaitable.ts";
import { rowByKey } from "../../../projection/ids.ts";
import {
  ProjectGrantFieldNameSchema,
  ProjectGrantSearchFilterSchema,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { Deps } from "../../../projection/module.ts";
import { isOneOf } from "../../../projection/search.ts";
import type { Database } from "../../../storage/database.ts";
import { cachedRows, hasRow } from "../../../projection/rows.ts";
import { or } from "../../../storage/drizzle.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import type { Row } from "../../../storage/table.ts";
import { type GrantsOfProjects, projectOwnership } from "../../project/index.ts";
import { isListed } from "../../object/filters.ts";
import { objectQueries } from "../../object/queries.ts";
import { projectGrantsByRole, projectGrants } from "./project-grant.ts";

export type ProjectGrantRow = Row<typeof projectGrants.table>;

export type FoundProjectGrant = {
  id: string;
  projectId: string;
  /** The owner of the project. */
  organizationId: string;
  grantedOrganizationId: string;
  state: string;
  /** The organization that it was given to has said that it wants it. */
  accepted: boolean;
  /** It was given when nobody had to accept it. */
  isFormer: boolean;
  instanceId: string;
  roleKeys: readonly string[];
};

/** What other slices ask of project grants. */
export type ProjectGrantReader = {
  byId(instanceId: string, id: string): Awaitable<FoundProjectGrant | undefined>;
  ofProject(instanceId: string, projectId: string): Awaitable<readonly FoundProjectGrant[]>;
};

/** Project grants, never older than the last write that changed any (B7). */
export function projectGrantReader(db: Database): ProjectGrantReader {
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
