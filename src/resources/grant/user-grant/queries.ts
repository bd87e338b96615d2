import { rowById } from "../../../projection/ids.ts";
import {
  UserGrantFieldName,
  type UserGrantSearchFilter,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { Scope } from "../../../authz/context.ts";
import type { Deps } from "../../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../../projection/search.ts";
import type { Database } from "../../../storage/database.ts";
import { and, type Column, eq, exists, or, type SQL, sql } from "../../../storage/drizzle.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import type { Row } from "../../../storage/table.ts";
import { hasId, hasState, isOfOrganization } from "../../object/filters.ts";
import { type Tenancy } from "../../../authz/tenancy.ts";
import { organizationReader } from "../../org/index.ts";
import { projectReader } from "../../project/index.ts";
import { projectGrantReader } from "../project-grant/queries.ts";
import { userGrantRoles, userGrants } from "./projection.ts";

export type UserGrantRow = Row<typeof userGrants>;

/** Roles of a user in a project, and the organization that granted them. */
export type FoundUserGrant = {
  projectId: string;
  /** Empty where the owner of the project granted the roles. */
  projectGrantId: string;
  organizationId: string;
  roleKeys: readonly string[];
};

/**
 * The roles of a user that count: of active grants, by active project grants, in active projects of active
 * organizations. Never older than the last write that changed any of these (B7).
 */
export function userGrantsOf(
  db: Database,
): (instanceId: string, userId: string) => Promise<FoundUserGrant[]> {
  const t = db.table(userGrants);
  const projects = projectReader(db);
  const projectGrants = projectGrantReader(db);
  const organizations = organizationReader(db);
  const ofUser = cachedRead(db, [userGrants], (instanceId, userId) =>
    db.read
      .select()
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.userId, userId), eq(t.state, "active"))),
  );
  return async (instanceId, userId) => {
    const counting: FoundUserGrant[] = [];
    for (const grant of await ofUser(instanceId, userId)) {
      const { projectId, projectGrantId, organizationId, roleKeys } = grant;
      const project = await projects.byId(instanceId, projectId);
      if (project?.state !== "active") continue;
      if (projectGrantId !== "") {
        const by = await projectGrants.byId(instanceId, projectGrantId);
        if (by?.state !== "active") continue;
      }
      const owner = await organizations.byId(instanceId, project.organizationId);
      const granter = await organizations.byId(instanceId, organizationId);
      if (owner?.state !== "active" || granter?.state !== "active") continue;
      counting.push({ projectId, projectGrantId, organizationId, roleKeys });
    }
    return counting;
  };
}

export function userGrantQueries(
  { db, limits, organizations }: Pick<Deps, "db" | "limits" | "organizations">,
  tenancy: Tenancy,
) {
  const t = db.table(userGrants);
  const roles = db.table(userGrantRoles);
  const columns: Record<number, Column> = {
    [UserGrantFieldName.ID]: t.id,
    [UserGrantFieldName.CREATION_DATE]: t.creationDate,
    [UserGrantFieldName.CHANGE_DATE]: t.changeDate,
    [UserGrantFieldName.USER_ID]: t.userId,
  };

  async function condition(
    { instanceId }: Scope,
    { filter }: UserGrantSearchFilter,
  ): Promise<SQL | undefined> {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "inUserIds":
        return hasId(t.userId, filter.value);
      case "projectId":
        return eq(t.projectId, filter.value);
      case "projectGrantId":
        return eq(t.projectGrantId, filter.value);
      case "state":
        return hasState(t.state, filter.value);
      case "roleKey": {
        const having = db.read
          .select({ one: sql`1` })
          .from(roles)
          .where(
            and(
              eq(roles.instanceId, t.instanceId),
              eq(roles.userGrantId, t.id),
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
    find: rowById(db, userGrants),
    async search(
      scope: Scope,
      asked: { filters: UserGrantSearchFilter[]; sortingColumn: UserGrantFieldName; page: Page },
    ): Promise<Found<UserGrantRow>> {
      const visible = await tenancy.visible(scope, {
        organizationId: t.organizationId,
        userId: t.userId,
        // The members of a project see what its owner granted, those of a project grant what was granted by it.
        also: (reach) =>
          or(
            and(eq(t.projectGrantId, ""), isOneOf(t.projectId, reach.projects)),
            isOneOf(t.projectGrantId, reach.projectGrants),
          ),
      });
      const filters = await Promise.all(asked.filters.map((one) => condition(scope, one)));
      return search(db, userGrants, {
        instanceId: scope.instanceId,
        filters: [...visible, ...filters],
        order: columns[asked.sortingColumn] ?? t.creationDate,
        page: asked.page,
        limits,
      });
    },
  };
}
