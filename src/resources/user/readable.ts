import type { JsonObject } from "@bufbuild/protobuf";
import type { Scope } from "../../authz/context.ts";
import { callerId, mayOn } from "../../authz/tenancy.ts";
import type { UserPorts } from "./ports.ts";
import type { UserRow } from "./queries.ts";

/** What of a user's data the schema lets the caller see: the user, or who may read users of their organization. */
export const readableDataOf =
  ({ userSchemas }: Pick<UserPorts, "userSchemas">) =>
  async (scope: Scope, row: UserRow): Promise<JsonObject> => {
    const isSelf = row.id === callerId(scope) && !mayOn(scope, scope.policy.read, row);
    return userSchemas.readable(scope.instanceId, row, isSelf ? "self" : "owner");
  };
