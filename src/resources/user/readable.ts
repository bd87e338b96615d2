import type { JsonObject } from "@bufbuild/protobuf";
import type { Scope } from "../../authz/context.ts";
import { callerId, mayOn } from "../../authz/tenancy.ts";
import type { Database } from "../../storage/database.ts";
import { readableData, schemaReader } from "../userschema/index.ts";
import type { UserRow } from "./queries.ts";

/** What of a user's data the schema lets the caller see: the user, or who may read users of their organization. */
export function readableDataOf(db: Database) {
  const schemaById = schemaReader(db);
  return async (scope: Scope, row: UserRow): Promise<JsonObject> => {
    const schema = await schemaById(scope.instanceId, row.schemaId);
    if (schema === undefined) return {};
    const isSelf = row.id === callerId(scope) && !mayOn(scope, scope.policy.read, row);
    return readableData(schema, row.data, isSelf ? "self" : "owner");
  };
}
