import {
  ProjectFieldName,
  type ProjectSearchFilter,
} from "#gen/idsvc/resources/project/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, type Page, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { and, type Column, eq, type SQL } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { hasId, hasName, hasState, isOfOrganization } from "../object/filters.ts";
import type { Owned, Tenancy } from "../org/index.ts";
import { projectNotFound } from "./project.ts";
import { projects } from "./projection.ts";

export type ProjectRow = Row<typeof projects>;

/** What other slices ask of a project. */
export type ProjectReader = {
  byId(
    instanceId: string,
    id: string,
  ): Promise<FoundProject | undefined> | FoundProject | undefined;
};

export type FoundProject = { id: string; organizationId: string; state: string };

/** Projects, never older than the last write that changed any (decisions B7). */
export function projectReader(db: Database): ProjectReader {
  const t = db.table(projects);
  return {
    byId: cachedRead(db, [projects], async (instanceId, id) => {
      const [row] = await db.read
        .select({ id: t.id, organizationId: t.organizationId, state: t.state })
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
      return row;
    }),
  };
}

/** The ids of some projects of an organization. */
export async function projectsOfOrganization(
  db: Database,
  instanceId: string,
  organizationId: string,
  limit: number,
): Promise<string[]> {
  const t = db.table(projects);
  const rows = await db.read
    .select({ id: t.id })
    .from(t)
    .where(and(eq(t.instanceId, instanceId), eq(t.organizationId, organizationId)))
    .limit(limit);
  return rows.map(({ id }) => id);
}

export type ProjectQueries = {
  /** Where a project lives: undefined for none. */
  ownedBy(instanceId: string, id: string): Promise<Owned | undefined>;
  get(instanceId: string, id: string): Promise<ProjectRow>;
  search(
    scope: Scope,
    asked: { filters: ProjectSearchFilter[]; sortingColumn: ProjectFieldName; page: Page },
  ): Promise<Found<ProjectRow>>;
};

export function projectQueries(
  { db, limits, organizations }: Pick<Deps, "db" | "limits" | "organizations">,
  tenancy: Tenancy,
): ProjectQueries {
  const t = db.table(projects);
  const reader = projectReader(db);
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
      case "organization":
        return isOfOrganization(t.organizationId, organizations, instanceId, filter.value);
      default:
        return undefined;
    }
  }

  return {
    async ownedBy(instanceId, id) {
      const found = await reader.byId(instanceId, id);
      return found && { organizationId: found.organizationId, projectId: id };
    },
    async get(instanceId, id) {
      const [row] = await db.read
        .select()
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
      if (row === undefined) throw projectNotFound();
      return row;
    },
    async search(scope, { filters, sortingColumn, page }) {
      const visible = await tenancy.visible(scope, {
        organizationId: t.organizationId,
        projectId: t.id,
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
