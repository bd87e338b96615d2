import { rowById } from "../../projection/ids.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { builtInSchemas, type UserSchema } from "./built-in.ts";
import { userSchemaInactive, userSchemas } from "./userschema.ts";

/**
 * The schema of a user who is made or changed. It stands still until the unit commits: who deletes, deactivates or
 * changes it meanwhile makes the decision be taken anew.
 *
 * @throws NOT_FOUND USER_SCHEMA_NOT_FOUND
 * @throws FAILED_PRECONDITION USER_SCHEMA_INACTIVE
 */
export async function requireSchema(tx: Transaction, id: string): Promise<UserSchema> {
  const builtIn = builtInSchemas.get(id);
  if (builtIn !== undefined) return builtIn;
  const state = userSchemas.require((await tx.load(userSchemas.aggregate, id)).state);
  if (state.state === "inactive") throw userSchemaInactive();
  return { id, ...state };
}

/** Reads a schema in any state, from memory as long as no commit has touched the schemas of the instance. */
export function schemaReader(db: Database) {
  const byId = rowById(db, userSchemas.table);
  const read = cachedRead(db, [userSchemas.table], async (instanceId, id) => {
    const row = await byId(instanceId, id);
    return row === undefined ? undefined : toUserSchema(row);
  });
  return async (instanceId: string, id: string): Promise<UserSchema | undefined> =>
    builtInSchemas.get(id) ?? read(instanceId, id);
}

/** A row of a schema; what a built-in one says is not in it. */
export function toUserSchema(row: Row<typeof userSchemas.table>): UserSchema {
  const { id, type, revision, schema, possibleAuthenticators } = row;
  const state = row.state === "active" ? "active" : "inactive";
  return (
    builtInSchemas.get(id) ?? {
      id,
      type,
      revision,
      state,
      schema: schema ?? {},
      possibleAuthenticators,
    }
  );
}
