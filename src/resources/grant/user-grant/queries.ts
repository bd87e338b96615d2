import {
  UserGrantFieldNameSchema,
  UserGrantSearchFilterSchema,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { UserGrant, UserGrants } from "../../../authz/grants.ts";
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

/** The roles of a user that count. */
export function countingReader(db: Database): UserGrants["ofUser"] {
  const projects = projectReader(db);
  const projectGrants = projectGrantReader(db);
  const organizations = organizationReader(db);
  const ofUser = cachedRead(db, [userGrants.table], (instanceId, userId) =>
    rowsWhere(db, userGrants.table, { instanceId, userId, state: "active" }),
  );
  return async (instanceId, userId) => {
    const counting: UserGrant[] = [];
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
