import { rowsWhere } from "../../../projection/rows.ts";
import {
  RoleFieldNameSchema,
  RoleSearchFilterSchema,
} from "#gen/idsvc/resources/grant/v3alpha/query_pb.ts";
import type { Transaction } from "../../../eventstore/transaction.ts";
import type { Deps } from "../../../projection/module.ts";
import type { Database } from "../../../storage/database.ts";
import { objectQueries } from "../../object/queries.ts";
import { requireKeys, roles } from "./role.ts";

/** Which of these keys are keys of roles of the project. */
export async function keysOfProject(
  db: Database,
  instanceId: string,
  projectId: string,
  keys: readonly string[],
): Promise<string[]> {
  const rows = await rowsWhere(db, roles.table, { instanceId, projectId, key: keys });
  return rows.map(({ key }) => key);
}

/**
 * Makes sure that these are keys of roles of the project, and still are when the unit commits.
 *
 * @throws INVALID_ARGUMENT ROLE_KEY_UNKNOWN naming the field that the keys came in
 */
export async function requireRolesOfProject(
  db: Database,
  tx: Transaction,
  instanceId: string,
  projectId: string,
  keys: readonly string[],
  field: string,
): Promise<void> {
  requireKeys(keys, await keysOfProject(db, instanceId, projectId, keys), field, "the project");
  for (const key of keys) tx.expectRows(roles.table, { instanceId, projectId, key }, 1);
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
