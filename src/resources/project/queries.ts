import type { Awaitable } from "../../awaitable.ts";
import { rowById } from "../../projection/ids.ts";
import {
  ProjectFieldName,
  type ProjectSearchFilter,
} from "#gen/idsvc/resources/project/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Reach } from "../../authz/permissions.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, type Page, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { and, type Column, eq, exists, type SQL, sql } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { hasId, hasName, hasState, isOfOrganization } from "../object/filters.ts";
import { type Owned, type Tenancy } from "../../authz/tenancy.ts";
import { isInActiveOrganization } from "../org/index.ts";
import { projectNotFound } from "./project.ts";
import { projects } from "./projection.ts";

export type ProjectRow = Row<typeof projects>;

/** What other slices ask of a project. */
export type ProjectReader = {
  byId(instanceId: string, id: string): Awaitable<FoundProject | undefined>;
};

/** What grants say of projects; the slice of grants answers. */
export type GrantsOfProjects = {
  /** The active grants of a project, and the organizations that they were given to. */
  ofProject(instanceId: string, projectId: string): Promise<NonNullable<Owned["grants"]>>;
  /** Keeps the projects with a grant that matches: by any of these grants, or to any of these organizations. */
  isGranted(
    project: { instanceId: Column; id: Column },
    to: Pick<Reach, "organizations" | "projectGrants">,
    onlyActive: boolean,
  ): SQL;
};

export type FoundProject = {
  id: string;
  organizationId: string;
  state: string;
  /** Its roles are told of its users unasked. */
  roleAssertion: boolean;
  /** Who logs in needs a role in it. */
  authorizationRequired: boolean;
  /** Who logs in must be of an organization that owns it or that it is granted to. */
  projectAccessRequired: boolean;
};

/** Projects, never older than the last write that changed any (B7). */
export function projectReader(db: Database): ProjectReader {
  const t = db.table(projects);
  return {
    byId: cachedRead(db, [projects], async (instanceId, id) => {
      const [row] = await db.read
        .select({
          id: t.id,
          organizationId: t.organizationId,
          state: t.state,
          roleAssertion: t.roleAssertion,
          authorizationRequired: t.authorizationRequired,
          projectAccessRequired: t.projectAccessRequired,
        })
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
      return row;
    }),
  };
}

/** Where a project lives, and whom it is granted to: decides who may do what in it. */
export function projectOwnership(db: Database, grants: Pick<GrantsOfProjects, "ofProject">) {
  const { byId } = projectReader(db);
  return async (instanceId: string, id: string): Promise<Owned | undefined> => {
    const found = await byId(instanceId, id);
    if (found === undefined) return undefined;
    const { organizationId } = found;
    return { organizationId, projectId: id, grants: await grants.ofProject(instanceId, id) };
  };
}

/** Keeps the rows of projects that are active, of organizations that are. */
export function isInActiveProject(
  db: Database,
  row: { instanceId: Column; projectId: Column },
): SQL {
  const t = db.table(projects);
  const active = db.read
    .select({ one: sql`1` })
    .from(t)
    .where(
      and(
        eq(t.instanceId, row.instanceId),
        eq(t.id, row.projectId),
        eq(t.state, "active"),
        isInActiveOrganization(db, t),
      ),
    );
  return exists(active);
}

export type ProjectQueries = {
  get(instanceId: string, id: string): Promise<ProjectRow>;
  search(
    scope: Scope,
    asked: { filters: ProjectSearchFilter[]; sortingColumn: ProjectFieldName; page: Page },
  ): Promise<Found<ProjectRow>>;
};

export function projectQueries(
  { db, limits, organizations }: Pick<Deps, "db" | "limits" | "organizations">,
  tenancy: Tenancy,
  grants: Pick<GrantsOfProjects, "isGranted">,
): ProjectQueries {
  const t = db.table(projects);
  const byId = rowById(db, projects);
  const columns: Record<number, Column> = {
    [ProjectFieldName.ID]: t.id,
    [ProjectFieldName.CREATION_DATE]: t.creationDate,
    [ProjectFieldName.CHANGE_DATE]: t.changeDate,
    [ProjectFieldName.NAME]: t.name,
  };

  async function condition(
    { instanceId }: Scope,
    { filter }: ProjectSearchFilter,
  ): Promise<SQL | undefined> {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "name":
        return hasName(db, { exact: t.name, folded: t.nameFolded }, filter.value);
      case "state":
        return hasState(t.state, filter.value);
      case "grantedOrganizationId":
        return grants.isGranted(t, { organizations: [filter.value], projectGrants: [] }, false);
      case "organization":
        return isOfOrganization(t.organizationId, organizations, instanceId, filter.value);
      default:
        return undefined;
    }
  }

  return {
    async get(instanceId, id) {
      const row = await byId(instanceId, id);
      if (row === undefined) throw projectNotFound();
      return row;
    },
    async search(scope, { filters, sortingColumn, page }) {
      const visible = await tenancy.visible(scope, {
        organizationId: t.organizationId,
        projectId: t.id,
        also: (reach) => grants.isGranted(t, reach, true),
      });
      const asked = await Promise.all(filters.map((filter) => condition(scope, filter)));
      return search(db, projects, {
        instanceId: scope.instanceId,
        filters: [...visible, ...asked],
        order: columns[sortingColumn] ?? t.creationDate,
        page,
        limits,
      });
    },
  };
}
