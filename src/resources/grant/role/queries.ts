import { rowById } from "../../../projection/ids.ts";
import {
  RoleFieldName,
  type RoleSearchFilter,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { Scope } from "../../../authz/context.ts";
import type { Deps } from "../../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../../projection/search.ts";
import type { Database } from "../../../storage/database.ts";
import { and, type Column, eq, type SQL } from "../../../storage/drizzle.ts";
import type { Row } from "../../../storage/table.ts";
import { hasId, hasName, isOfOrganization } from "../../object/filters.ts";
import type { Tenancy } from "../../../authz/tenancy.ts";
import { projectRoles } from "./projection.ts";

export type RoleRow = Row<typeof projectRoles>;

/** Which of these keys are keys of roles of the project. */
export async function keysOfProject(
  db: Database,
  instanceId: string,
  projectId: string,
  keys: readonly string[],
): Promise<string[]> {
  const t = db.table(projectRoles);
  const rows = await db.read
    .select({ key: t.key })
    .from(t)
    .where(and(eq(t.instanceId, instanceId), eq(t.projectId, projectId), isOneOf(t.key, keys)));
  return rows.map(({ key }) => key);
}

export function roleQueries(
  { db, limits, organizations }: Pick<Deps, "db" | "limits" | "organizations">,
  tenancy: Tenancy,
) {
  const t = db.table(projectRoles);
  const columns: Record<number, Column> = {
    [RoleFieldName.ID]: t.id,
    [RoleFieldName.CREATION_DATE]: t.creationDate,
    [RoleFieldName.CHANGE_DATE]: t.changeDate,
    [RoleFieldName.KEY]: t.key,
    [RoleFieldName.DISPLAY_NAME]: t.displayName,
  };

  async function condition(
    { instanceId }: Scope,
    { filter }: RoleSearchFilter,
  ): Promise<SQL | undefined> {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "projectId":
        return eq(t.projectId, filter.value);
      case "key":
        return hasName(db, { exact: t.key, folded: t.keyFolded }, filter.value);
      case "displayName":
        return hasName(db, { exact: t.displayName, folded: t.displayNameFolded }, filter.value);
      case "group":
        return hasName(db, { exact: t.groupName, folded: t.groupNameFolded }, filter.value);
      case "organization":
        return isOfOrganization(t.organizationId, organizations, instanceId, filter.value);
      default:
        return undefined;
    }
  }

  return {
    find: rowById(db, projectRoles),
    async search(
      scope: Scope,
      asked: { filters: RoleSearchFilter[]; sortingColumn: RoleFieldName; page: Page },
    ): Promise<Found<RoleRow>> {
      const { organizationId, projectId } = t;
      const visible = await tenancy.visible(scope, { organizationId, projectId });
      const filters = await Promise.all(asked.filters.map((one) => condition(scope, one)));
      return search(db, projectRoles, {
        instanceId: scope.instanceId,
        filters: [...visible, ...filters],
        order: columns[asked.sortingColumn] ?? t.creationDate,
        page: asked.page,
        limits,
      });
    },
  };
}
