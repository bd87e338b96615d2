import type { Awaitable } from "../../../awaitable.ts";
import { rowById } from "../../../projection/ids.ts";
import {
  ProjectGrantFieldName,
  type ProjectGrantSearchFilter,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { Scope } from "../../../authz/context.ts";
import type { Deps } from "../../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../../projection/search.ts";
import type { Database } from "../../../storage/database.ts";
import { and, type Column, eq, exists, or, type SQL, sql } from "../../../storage/drizzle.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import type { Row } from "../../../storage/table.ts";
import { hasId, hasState, isOfOrganization } from "../../object/filters.ts";
import type { Tenancy } from "../../../authz/tenancy.ts";
import { type GrantsOfProjects, projectOwnership } from "../../project/index.ts";
import { projectGrantRoles, projectGrants } from "./projection.ts";

export type ProjectGrantRow = Row<typeof projectGrants>;

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
  const t = db.table(projectGrants);
  const byId = rowById(db, projectGrants);
  return {
    byId: cachedRead(db, [projectGrants], async (instanceId, id) => {
      const row = await byId(instanceId, id);
      return row;
    }),
    ofProject: cachedRead(db, [projectGrants], (instanceId, projectId) =>
      db.read
        .select()
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.projectId, projectId))),
    ),
  };
}

/** What grants say of projects, for the slice of projects and all that is below them. */
export function grantsOfProjects(db: Database): GrantsOfProjects {
  const t = db.table(projectGrants);
  const { ofProject } = projectGrantReader(db);
  return {
    async ofProject(instanceId, projectId) {
      return (await ofProject(instanceId, projectId))
        .filter(({ state }) => state === "active")
        .map((grant) => ({ id: grant.id, organizationId: grant.grantedOrganizationId }));
    },
    isGranted(project, to, onlyActive) {
      const granted = db.read
        .select({ one: sql`1` })
        .from(t)
        .where(
          and(
            eq(t.instanceId, project.instanceId),
            eq(t.projectId, project.id),
            onlyActive ? eq(t.state, "active") : undefined,
            or(isOneOf(t.grantedOrganizationId, to.organizations), isOneOf(t.id, to.projectGrants)),
          ),
        );
      return exists(granted);
    },
  };
}

/** Where a project lives, and whom it is granted to: decides who may do what in it. */
export const ownedProjects = (db: Database) => projectOwnership(db, grantsOfProjects(db));

export function projectGrantQueries(
  { db, limits, organizations }: Pick<Deps, "db" | "limits" | "organizations">,
  tenancy: Tenancy,
) {
  const t = db.table(projectGrants);
  const roles = db.table(projectGrantRoles);
  const columns: Record<number, Column> = {
    [ProjectGrantFieldName.ID]: t.id,
    [ProjectGrantFieldName.CREATION_DATE]: t.creationDate,
    [ProjectGrantFieldName.CHANGE_DATE]: t.changeDate,
  };

  async function condition(
    { instanceId }: Scope,
    { filter }: ProjectGrantSearchFilter,
  ): Promise<SQL | undefined> {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "projectId":
        return eq(t.projectId, filter.value);
      case "grantedOrganizationId":
        return eq(t.grantedOrganizationId, filter.value);
      case "state":
        return hasState(t.state, filter.value);
      case "roleKey": {
        const having = db.read
          .select({ one: sql`1` })
          .from(roles)
          .where(
            and(
              eq(roles.instanceId, t.instanceId),
              eq(roles.projectGrantId, t.id),
              eq(roles.roleKey, filter.value),
            ),
          );
        return exists(having);
      }
      case "organization":
        return isOfOrganization(t.organizationId, organizations, instanceId, filter.value);
      default:
        return undefined;
    }
  }

  return {
    find: rowById(db, projectGrants),
    async search(
      scope: Scope,
      asked: {
        filters: ProjectGrantSearchFilter[];
        sortingColumn: ProjectGrantFieldName;
        page: Page;
      },
    ): Promise<Found<ProjectGrantRow>> {
      const visible = await tenancy.visible(scope, {
        organizationId: t.organizationId,
        projectId: t.projectId,
        also: (reach) =>
          or(
            isOneOf(t.grantedOrganizationId, reach.organizations),
            isOneOf(t.id, reach.projectGrants),
          ),
      });
      const filters = await Promise.all(asked.filters.map((one) => condition(scope, one)));
      return search(db, projectGrants, {
        instanceId: scope.instanceId,
        filters: [...visible, ...filters],
        order: columns[asked.sortingColumn] ?? t.creationDate,
        page: asked.page,
        limits,
      });
    },
  };
}
