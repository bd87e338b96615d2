import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { keysOfProject } from "./role/queries.ts";
import { requireKeys, roles } from "./role/role.ts";

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
