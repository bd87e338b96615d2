import { rowById } from "../../projection/ids.ts";
import {
  UserSchemaFieldName,
  type UserSchemaSearchFilter,
} from "#gen/idsvc/resources/userschema/v3alpha/query_pb.ts";
import { State } from "#gen/idsvc/resources/userschema/v3alpha/user_schema_pb.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, type Page, search } from "../../projection/search.ts";
import { type Column, eq } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { type FilterNode, filterTree } from "../object/filter-tree.ts";
import { hasId, matches } from "../object/filters.ts";
import { userSchemas } from "./projection.ts";
import { userSchemaNotFound } from "./userschema.ts";

export type UserSchemaRow = Row<typeof userSchemas>;

export type UserSchemaQueries = {
  /** @throws NOT_FOUND USER_SCHEMA_NOT_FOUND */
  get(instanceId: string, id: string): Promise<UserSchemaRow>;
  search(
    instanceId: string,
    asked: { filters: UserSchemaSearchFilter[]; sortingColumn: UserSchemaFieldName; page: Page },
  ): Promise<Found<UserSchemaRow>>;
};

export function userSchemaQueries({ db, limits }: Pick<Deps, "db" | "limits">): UserSchemaQueries {
  const t = db.table(userSchemas);
  const byId = rowById(db, userSchemas);
  const columns: Record<number, Column> = {
    [UserSchemaFieldName.TYPE]: t.type,
    [UserSchemaFieldName.STATE]: t.state,
    [UserSchemaFieldName.REVISION]: t.revision,
    [UserSchemaFieldName.CHANGE_DATE]: t.changeDate,
    [UserSchemaFieldName.CREATION_DATE]: t.creationDate,
    [UserSchemaFieldName.ID]: t.id,
  };

  const read = ({ filter }: UserSchemaSearchFilter): FilterNode<UserSchemaSearchFilter> => {
    switch (filter.case) {
      case "orFilter":
        return { kind: "or", filters: listed("or_filter", filter.value.queries) };
      case "andFilter":
        return { kind: "and", filters: listed("and_filter", filter.value.queries) };
      case "notFilter": {
        const inside = filter.value.filter;
        const filters =
          inside === undefined ? [] : [{ filter: inside, field: "not_filter.filter" }];
        return { kind: "not", filters };
      }
      default:
        return { kind: "leaf", condition: compare(filter) };
    }
  };

  const compare = (filter: UserSchemaSearchFilter["filter"]) => {
    switch (filter.case) {
      case "typeFilter": {
        const { type, method } = filter.value;
        return matches(db, { exact: t.type, folded: t.typeFolded }, method, type);
      }
      case "stateFilter":
        return eq(t.state, filter.value.state === State.ACTIVE ? "active" : "inactive");
      case "idFilter": {
        const { id, method } = filter.value;
        return matches(db, { exact: t.id, folded: t.id }, method, id);
      }
      case "inIds":
        return hasId(t.id, filter.value);
      default:
        return undefined;
    }
  };

  return {
    async get(instanceId, id) {
      const row = await byId(instanceId, id);
      if (row === undefined) throw userSchemaNotFound();
      return row;
    },
    search: async (instanceId, { filters, sortingColumn, page }) =>
      search(db, userSchemas, {
        instanceId,
        filters: await filterTree(filters, read),
        order: columns[sortingColumn] ?? t.creationDate,
        page,
        limits,
      }),
  };
}

const listed = (kind: string, queries: UserSchemaSearchFilter[]) =>
  queries.map((filter, index) => ({ filter, field: `${kind}.queries[${index}]` }));
