import { rowByKey } from "../../../projection/ids.ts";
import {
  ProjectGrantFieldNameSchema,
  ProjectGrantSearchFilterSchema,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { ProjectGrants } from "../../../authz/grants.ts";
import type { MembershipReader } from "../../../authz/ports.ts";
import type { Deps } from "../../../projection/module.ts";
import type { Database } from "../../../storage/database.ts";
import { cachedRows, hasRow, isOneOf } from "../../../projection/rows.ts";
import { or } from "../../../storage/drizzle.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import type { Row } from "../../../storage/table.ts";
import { isListed } from "../../object/filters.ts";
import { objectQueries } from "../../object/queries.ts";
import { acceptanceReader } from "./acceptance.ts";
import { projectGrantsByRole, projectGrants, requireProjectGrant } from "./project-grant.ts";

export type ProjectGrantRow = Row<typeof projectGrants.table>;

/** Project grants: never older than the last write that changed any (B7). */
export function projectGrantReader(db: Database) {
  const { table } = projectGrants;
  return {
    byId: cachedRead(db, [table], rowByKey(db, table)),
    ofProject: cachedRows(db, table, "projectId"),
  };
}

/** What others ask of project grants. */
export function projectGrantsOf(db: Database, memberships: MembershipReader): ProjectGrants {
  const t = db.table(projectGrants.table);
  const { byId, ofProject } = projectGrantReader(db);
  const isAccepted = acceptanceReader(db, memberships);
  const isActive = ({ state }: ProjectGrantRow) => state === "active";
  const activeTo = async (instanceId: string, projectId: string, organizationId: string) =>
    (await ofProject(instanceId, projectId)).find(
      (grant) => isActive(grant) && grant.grantedOrganizationId === organizationId,
    );

  return {
    byId,
    async ofProject(instanceId, projectId) {
      return (await ofProject(instanceId, projectId))
        .filter(isActive)
        .map((grant) => ({ id: grant.id, organizationId: grant.grantedOrganizationId }));
    },
    isGrantedTo: async (...asked) => (await activeTo(...asked)) !== undefined,
    async isAcceptedBy(...asked) {
      const grant = await activeTo(...asked);
      return grant !== undefined && isAccepted(grant);
    },
    require: requireProjectGrant,
    missing: projectGrants.missing,
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
