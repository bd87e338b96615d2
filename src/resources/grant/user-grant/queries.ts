import {
  UserGrantFieldNameSchema,
  UserGrantSearchFilterSchema,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { Deps } from "../../../projection/module.ts";
import { isOneOf, rowsWhere } from "../../../projection/rows.ts";
import type { Database } from "../../../storage/database.ts";
import { and, eq, or } from "../../../storage/drizzle.ts";
import { cachedRead } from "../../../storage/read-cache.ts";
import { organizationReader } from "../../org/index.ts";
import { projectReader } from "../../project/index.ts";
import { projectGrantReader } from "../project-grant/queries.ts";
import { isListed } from "../../object/filters.ts";
import { objectQueries } from "../../object/queries.ts";
import { userGrantsByRole, userGrants } from "./user-grant.ts";

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
  const projects = projectReader(db);
  const projectGrants = projectGrantReader(db);
  const organizations = organizationReader(db);
  const ofUser = cachedRead(db, [userGrants.table], (instanceId, userId) =>
    rowsWhere(db, userGrants.table, { instanceId, userId, state: "active" }),
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

export function userGrantQueries(deps: Deps) {
  const { db, tenancy } = deps;
  const t = db.table(userGrants.table);
  const { organizationId, projectId, projectGrantId, userId } = t;
  return objectQueries(
    deps,
    userGrants.table,
    {
      filter: UserGrantSearchFilterSchema,
      sort: UserGrantFieldNameSchema,
      filters: { roleKey: (key) => isListed(db, t, userGrantsByRole, key) },
      visible: (scope) =>
        tenancy.visible(scope, {
          organizationId,
          userId,
          // The members of a project see what its owner granted, those of a project grant what was granted by it.
          also: ({ projects, projectGrants }) =>
            or(
              and(eq(projectGrantId, ""), isOneOf(projectId, projects)),
              isOneOf(projectGrantId, projectGrants),
            ),
        }),
    },
    userGrants.missing,
  );
}
