import type { DescEnum, DescField, DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Organization } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import type {
  InIDsFilter,
  ListQuery,
  NameFilter,
  StateFilter,
} from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Awaitable } from "../../awaitable.ts";
import type { DomainError } from "../../errors.ts";
import { rowById } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { type Column, eq, type SQL } from "../../storage/drizzle.ts";
import type { Row, Table } from "../../storage/table.ts";
import { toListDetails } from "./details.ts";
import { hasId, hasName, hasState, isOfOrganization } from "./filters.ts";
import { filterTree, holdingFilters } from "./filter-tree.ts";
import { looksAtEach, toPage } from "./list.ts";

type QueryDeps = Pick<Deps, "db" | "limits" | "organizations">;
type Filter = { case: string; value: unknown };
type FilterOf<F extends DescMessage> = Extract<
  (MessageShape<F> & { filter: unknown })["filter"],
  Filter
>;
type Conditions<F extends DescMessage> = {
  [C in FilterOf<F>["case"]]?: (
    value: Extract<FilterOf<F>, { case: C }>["value"],
    scope: Scope,
  ) => Awaitable<SQL | undefined>;
};

/** How the objects of a table are searched. */
export type Searched<F extends DescMessage> = {
  /** The message of one filter, whose oneof `filter` names what can be compared. */
  filter: F;
  /** The enum of the columns that can be sorted by; the first is not chosen, and means when the object was created. */
  sort: DescEnum;
  /** Columns that sorts and filters have another name for, by that name in camelCase. */
  columns?: Readonly<Record<string, string>>;
  /** Filters that are answered by more than a comparison with the column of their name. */
  filters?: Conditions<F>;
  /** The rows that the caller may read; without it all of the instance. */
  visible?: (scope: Scope) => Awaitable<readonly (SQL | undefined)[]>;
};

/** A search as requests ask for it. */
export type SearchRequest<F extends DescMessage> = {
  query?: ListQuery | undefined;
  sortingColumn: number;
  filters: readonly MessageShape<F>[];
};

/**
 * Reads and searches the objects of a table. Filters and sorts follow from the schema by their names and types: texts are compared
 * as they are and by the column of their fold, `in_ids` keeps by id, `in_user_ids` by the column `userId`, and `or`, `and` and `not` hold other filters.
 *
 * @param missing what `get` throws where there is no such object
 * @throws Error at the start, where a filter or a sort has no column
 */
export function objectQueries<T extends Table, F extends DescMessage>(
  { db, limits, organizations }: QueryDeps,
  table: T,
  searched: Searched<F>,
  missing: () => DomainError,
) {
  const find = rowById(db, table);
  const columnOf = columnsOf(db, table, searched.columns);
  const sorts = new Map(
    searched.sort.values.map(({ number, localName }) => [
      number,
      columnOf(number === 0 ? "creationDate" : camelCase(localName)),
    ]),
  );
  const holding = holdingFilters(searched.filter);
  const comparing = searched.filter.oneofs[0]?.fields.filter(
    ({ localName }) => !holding.has(localName),
  );
  const conditions = new Map(
    comparing?.map((field) => {
      const own: unknown = Reflect.get(searched.filters ?? {}, field.localName);
      const condition = own ?? comparison(db, organizations, columnOf, field);
      // The function takes the value of the very field that names it.
      return [field.localName, condition as (value: unknown, scope: Scope) => Awaitable<SQL>];
    }),
  );

  return {
    find,
    async get(instanceId: string, id: string): Promise<Row<T>> {
      const row = await find(instanceId, id);
      if (row === undefined) throw missing();
      return row;
    },
    async search(scope: Scope, request: SearchRequest<F>): Promise<Found<Row<T>>> {
      const visible = (await searched.visible?.(scope)) ?? [];
      const asked = filterTree<object>(request.filters, async (one) => {
        const { case: name = "", value } = Reflect.get(one, "filter") as Partial<Filter>;
        const others = holding.get(name)?.(value);
        return others ?? { kind: "leaf", condition: await conditions.get(name)?.(value, scope) };
      });
      return search(db, table, {
        instanceId: scope.instanceId,
        filters: [...visible, ...(await asked)],
        looksAtEach: looksAtEach(request.filters),
        order: sorts.get(request.sortingColumn) ?? columnOf("creationDate"),
        page: toPage(request.query),
        limits,
      });
    },
  };
}

/** The handler of a search: what it found, as the answers of the method have it. */
export const listing =
  <Q extends { sortingColumn: number }, R, M>(
    find: (scope: Scope, request: Q) => Promise<Found<R>>,
    toResult: (row: R) => Awaitable<M>,
  ) =>
  async <P extends Q>(request: P, scope: Scope) => {
    const found = await find(scope, request);
    const result = await Promise.all(found.rows.map((row) => toResult(row)));
    // The type of the column is that of the method.
    const sortingColumn: P["sortingColumn"] = request.sortingColumn;
    return { details: toListDetails(found), sortingColumn, result };
  };

type ColumnOf = (name: string) => Column;

function columnsOf(db: Database, table: Table, named: Searched<DescMessage>["columns"]): ColumnOf {
  const columns = db.table(table) as unknown as Record<string, Column>;
  return (name) => {
    const column = columns[named?.[name] ?? name];
    if (column === undefined) throw new Error(`${table.name} has no column ${name}`);
    return column;
  };
}

function comparison(
  db: Database,
  organizations: Deps["organizations"],
  columnOf: ColumnOf,
  { localName: name, message }: DescField,
): (value: never, scope: Scope) => Awaitable<SQL | undefined> {
  switch (message?.typeName) {
    case undefined: {
      const column = columnOf(name);
      return (value: string | boolean) => eq(column, value);
    }
    case "idsvc.resources.object.v3alpha.InIDsFilter": {
      const [, of = ""] = /^in(.*)Ids$/.exec(name) ?? [];
      const column = columnOf(of === "" ? "id" : `${of[0]?.toLowerCase()}${of.slice(1)}Id`);
      return (value: InIDsFilter) => hasId(column, value);
    }
    case "idsvc.resources.object.v3alpha.NameFilter": {
      const columns = { exact: columnOf(name), folded: columnOf(`${name}Folded`) };
      return (value: NameFilter) => hasName(db, columns, value);
    }
    case "idsvc.resources.object.v3alpha.StateFilter": {
      const column = columnOf(name);
      return (value: StateFilter) => hasState(column, value);
    }
    case "idsvc.object.v3alpha.Organization": {
      const column = columnOf("organizationId");
      return (value: Organization, { instanceId }) =>
        isOfOrganization(column, organizations, instanceId, value);
    }
    default:
      throw new Error(`nothing answers the filter ${name} of ${message?.typeName}`);
  }
}

/** As code spells what the schema and declarations do in snake_case. */
export const camelCase = (name: string): string =>
  name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
