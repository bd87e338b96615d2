import type { Awaitable } from "../../awaitable.ts";
import { rowById } from "../../projection/ids.ts";
import {
  UserFieldName,
  type UserSearchFilter,
} from "#gen/idsvc/resources/user/v3alpha/query_pb.ts";
import { UserState } from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, type Page, search } from "../../projection/search.ts";
import { and, type Column, eq, not, type SQL, sql } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { type FilterNode, filterTree } from "../object/filter-tree.ts";
import { hasId, hasName, isOfOrganization } from "../object/filters.ts";
import type { Tenancy } from "../../authz/tenancy.ts";
import { loginNameReader } from "./login-name.ts";
import { users } from "./projection.ts";

export type UserRow = Row<typeof users>;

export type UserQueries = {
  find(instanceId: string, id: string): Awaitable<UserRow | undefined>;
  search(
    scope: Scope,
    asked: { filters: UserSearchFilter[]; sortingColumn: UserFieldName; page: Page },
  ): Promise<Found<UserRow>>;
};

export function userQueries(
  { db, limits, organizations }: Pick<Deps, "db" | "limits" | "organizations">,
  tenancy: Tenancy,
): UserQueries {
  const t = db.table(users);
  const columns: Record<number, Column> = {
    [UserFieldName.ID]: t.id,
    [UserFieldName.CREATION_DATE]: t.creationDate,
    [UserFieldName.CHANGE_DATE]: t.changeDate,
    [UserFieldName.USERNAME]: t.username,
    [UserFieldName.EMAIL]: t.email,
    [UserFieldName.PHONE]: t.phone,
    [UserFieldName.STATE]: t.state,
    [UserFieldName.SCHEMA_ID]: t.schemaId,
    [UserFieldName.SCHEMA_TYPE]: t.schemaType,
    [UserFieldName.DISPLAY_NAME]: t.displayName,
  };
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

  const read =
    ({ instanceId }: Scope) =>
    async ({ filter }: UserSearchFilter): Promise<FilterNode<UserSearchFilter>> => {
      switch (filter.case) {
        case "or":
        case "and":
          return { kind: filter.case, filters: listed(filter.case, filter.value.filters) };
        case "not":
          return { kind: "not", filters: [{ filter: filter.value, field: "not" }] };
        default:
          return { kind: "leaf", condition: await compare(instanceId, filter) };
      }
    };

  async function compare(
    instanceId: string,
    filter: UserSearchFilter["filter"],
  ): Promise<SQL | undefined> {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "inSchemaIds":
        return hasId(t.schemaId, filter.value);
      case "organization":
        return isOfOrganization(t.organizationId, organizations, instanceId, filter.value);
      case "username":
        return hasName(db, { exact: t.username, folded: t.usernameFolded }, filter.value);
      case "displayName":
        return hasName(db, { exact: t.displayName, folded: t.displayNameFolded }, filter.value);
      case "email":
        return hasName(db, { exact: t.email, folded: t.emailFolded }, filter.value);
      case "phone":
        return hasName(db, { exact: t.phone, folded: t.phone }, filter.value);
      case "schemaType":
        return hasName(db, { exact: t.schemaType, folded: t.schemaType }, filter.value);
      case "state":
        return hasState(filter.value.state);
      case "loginName": {
        const id = await byLoginName(instanceId, filter.value.loginName);
        return id === undefined ? nobody : eq(t.id, id);
      }
      default:
        return undefined;
    }
  }

  return {
    find: rowById(db, users),
    async search(scope, { filters, sortingColumn, page }) {
      const visible = await tenancy.visible(scope, {
        organizationId: t.organizationId,
        userId: t.id,
      });
      return search(db, users, {
        instanceId: scope.instanceId,
        filters: [...visible, ...(await filterTree(filters, read(scope)))],
        order: columns[sortingColumn] ?? t.creationDate,
        page,
        limits,
      });
    },
  };
}

const listed = (kind: "or" | "and", filters: UserSearchFilter[]) =>
  filters.map((filter, index) => ({ filter, field: `${kind}.filters[${index}]` }));
