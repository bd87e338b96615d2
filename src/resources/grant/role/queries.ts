import {
  RoleFieldNameSchema,
  RoleSearchFilterSchema,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { Deps } from "../../../projection/module.ts";
import { isOneOf } from "../../../projection/search.ts";
import type { Database } from "../../../storage/database.ts";
import { and, eq } from "../../../storage/drizzle.ts";
import { objectQueries } from "../../object/queries.ts";
import { roles } from "./role.ts";

/** Which of these keys are keys of roles of the project. */
export async function keysOfProject(
  db: Database,
  instanceId: string,
  projectId: string,
  keys: readonly string[],
): Promise<string[]> {
  const t = db.table(roles.table);
  const rows = await db.read
    .select({ key: t.key })
    .from(t)
    .where(and(eq(t.instanceId, instanceId), eq(t.projectId, projectId), isOneOf(t.key, keys)));
  return rows.map(({ key }) => key);
}

export function roleQueries(deps: Deps) {
  const { organizationId, projectId } = deps.db.table(roles.table);
  return objectQueries(
    deps,
    roles.table,
    {
      filter: RoleSearchFilterSchema,
      sort: RoleFieldNameSchema,
      columns: { group: "groupName", groupFolded: "groupNameFolded" },
      visible: (scope) => deps.tenancy.visible(scope, { organizationId, projectId }),
    },
    roles.missing,
  );
}
