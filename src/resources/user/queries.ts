import {
  UserFieldNameSchema,
  UserSearchFilterSchema,
} from "#gen/idsvc/resources/user/v3alpha/query_pb.ts";
import { UserState } from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Deps } from "../../projection/module.ts";
import { and, eq, not, type SQL, sql } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { objectQueries } from "../object/queries.ts";
import { loginNameReader } from "./login-name.ts";
import { users } from "./projection.ts";
import { userNotFound } from "./user.ts";

export type UserRow = Row<typeof users>;

/** The rows that the caller may read. */
export const visibleUsers = ({ db, tenancy }: Pick<Deps, "db" | "tenancy">) => {
  const { organizationId, id: userId } = db.table(users);
  return (scope: Scope) => tenancy.visible(scope, { organizationId, userId });
};

export function userQueries(deps: Deps) {
  const { db } = deps;
  const t = db.table(users);
  const nobody = sql`1 = 0`;
  const isInitial = and(eq(t.state, "active"), eq(t.schemaType, "human"), eq(t.wasSetUp, false));
  const hasState = (state: UserState): SQL | undefined => {
    switch (state) {
      case UserState.ACTIVE:
        return and(eq(t.state, "active"), isInitial && not(isInitial));
      case UserState.INACTIVE:
        return eq(t.state, "inactive");
      case UserState.LOCKED:
        return eq(t.state, "locked");
      case UserState.INITIAL:
        return isInitial;
      default:
        return nobody;
    }
  };
  const byLoginName = loginNameReader({ db });
  return objectQueries(
    deps,
    users,
    {
      filter: UserSearchFilterSchema,
      sort: UserFieldNameSchema,
      columns: { phoneFolded: "phone", schemaTypeFolded: "schemaType" },
      filters: {
        state: ({ state }) => hasState(state),
        async loginName({ loginName }, { instanceId }) {
          const id = await byLoginName(instanceId, loginName);
          return id === undefined ? nobody : eq(t.id, id);
        },
      },
      visible: visibleUsers(deps),
    },
    userNotFound,
  );
}
