import {
  UserSchemaFieldNameSchema,
  UserSchemaSearchFilterSchema,
} from "#gen/idsvc/resources/userschema/v3alpha/query_pb.ts";
import { State } from "#gen/idsvc/resources/userschema/v3alpha/user_schema_pb.ts";
import type { Deps } from "../../projection/module.ts";
import { eq } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { matches } from "../object/filters.ts";
import { objectQueries } from "../object/queries.ts";
import { userSchemas } from "./userschema.ts";

export type UserSchemaRow = Row<typeof userSchemas.table>;

export function userSchemaQueries(deps: Deps) {
  const { db } = deps;
  const t = db.table(userSchemas.table);
  return objectQueries(
    deps,
    userSchemas.table,
    {
      filter: UserSchemaSearchFilterSchema,
      sort: UserSchemaFieldNameSchema,
      filters: {
        stateFilter: ({ state }) => eq(t.state, state === State.ACTIVE ? "active" : "inactive"),
        idFilter: ({ id, method }) => matches(db, { exact: t.id, folded: t.id }, method, id),
      },
    },
    userSchemas.missing,
  );
}
