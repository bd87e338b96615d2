import type { UserSchemaService } from "#gen/idsvc/resources/userschema/v3alpha/user_schema_service_pb.ts";
import { instanceOwner, type Scope, writeContext } from "../../authz/context.ts";
import { cachedResponse } from "../../authz/response-cache.ts";
import type { Handlers } from "../../authz/service.ts";
import { execute, type Transaction } from "../../eventstore/transaction.ts";
import { someIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { toDetails } from "../object/details.ts";
import { changing } from "../object/plain.ts";
import { listing } from "../object/queries.ts";
import type { users as usersTable } from "../user/index.ts";
import { builtInSchemas } from "./built-in.ts";
import { toChanges, toConfig, toGetUserSchema } from "./convert.ts";
import { type UserSchemaRow, userSchemaQueries } from "./queries.ts";
import {
  createUserSchema,
  patchUserSchema,
  userSchemaBuiltIn,
  userSchemaInUse,
  userSchemas,
} from "./userschema.ts";

export function userSchemaHandlers(
  deps: Deps,
  users: typeof usersTable,
): Handlers<typeof UserSchemaService> {
  const { db, events, newId } = deps;
  const { aggregate } = userSchemas;
  const queries = userSchemaQueries(deps);
  const responseOf = cachedResponse((row: UserSchemaRow) => ({
    userSchema: toGetUserSchema(row),
  }));
  const decide = changing(deps, aggregate);
  const change = async (scope: Scope, id: string, decision: Parameters<typeof decide>[2]) => {
    if (builtInSchemas.has(id)) throw userSchemaBuiltIn(id);
    return decide(scope, id, decision);
  };

  return {
    async createUserSchema({ userSchema: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation lets no request without schema pass");
      const config = toConfig(wanted);
      const object = { id: newId(), owner: instanceOwner(scope) };
      const at = writeContext(scope);
      const written = await execute(events.transact, at, aggregate, object, (state) =>
        createUserSchema(state, config),
      );
      return { details: toDetails(written) };
    },

    async patchUserSchema({ id, userSchema: patch }, scope) {
      if (patch === undefined) throw new Error("validation lets no request without schema pass");
      const changes = toChanges(patch);
      return change(scope, id, (state) => patchUserSchema(state, changes));
    },

    deactivateUserSchema: ({ id }, scope) => change(scope, id, userSchemas.deactivate),
    reactivateUserSchema: ({ id }, scope) => change(scope, id, userSchemas.activate),

    deleteUserSchema: ({ id }, scope) =>
      change(scope, id, async (state, tx) => {
        const happened = userSchemas.remove(state);
        await requireUnused(tx, scope.instanceId, id);
        return happened;
      }),

    async getUserSchema({ id }, { instanceId }) {
      return responseOf(await queries.get(instanceId, id));
    },

    searchUserSchemas: listing(queries.search, toGetUserSchema),
  };

  // A user who is made meanwhile has loaded the schema, or is counted: one of the two units is decided anew.
  async function requireUnused(tx: Transaction, instanceId: string, schemaId: string) {
    const ofSchema = { instanceId, schemaId };
    if ((await someIds(db, users, ofSchema, 1)).length > 0) throw userSchemaInUse();
    tx.expectRows(users, ofSchema, 0);
  }
}
