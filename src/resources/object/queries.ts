import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type MessageShape,
} from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type Organization, OrganizationSchema } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import {
  type InIDsFilter,
  type ListQuery,
  type NameFilter,
  type StateFilter,
  StateFilterSchema,
  TextFilterMethodSchema,
  type TimestampFilterMethod,
  TimestampFilterMethodSchema,
} from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Awaitable } from "../../awaitable.ts";
import type { DomainError } from "../../errors.ts";
import { rowById } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { columnIn, isOneOf } from "../../projection/rows.ts";
import { type Found, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { type Column, eq, type SQL } from "../../storage/drizzle.ts";
import type { Row, Table } from "../../storage/table.ts";
import { toListDetails } from "./details.ts";
import { hasState, hasTime, isOfOrganization, matches } from "./filters.ts";
import { filterTree, holdingFilters } from "./filter-tree.ts";
import { listName, looksAtEach, toPage } from "./list.ts";

type QueryDeps = Pick<Deps, "db" | "limits" | "organizations" | "secrets">;
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
  /** The enum of the columns that can be sorted by; the first is not chosen, and means `order`. */
  sort?: DescEnum;
  /** The column that sorts where none is chosen; without it, when the object was created. */
  order?: string;
  /** Columns that sorts and filters have another name for, by that name in camelCase. */
  columns?: Readonly<Record<string, string>>;
  /** Filters that are answered by more than a comparison with the column of their name. */
  filters?: Conditions<F>;
  /** The rows that the caller may read; without it all of the instance. */
  visible?: (scope: Scope) => Awaitable<readonly (SQL | undefined)[]>;
  /** Gives the log whose head the answer tells of, where that is not the instance's or rows of all instances are searched. */
  log?: (scope: Scope) => string;
  /** Rows of all instances are searched. */
  everyInstance?: true;
};

/** A search as requests ask for it. */
export type SearchRequest<F extends DescMessage> = {
  query?: ListQuery | undefined;
  sortingColumn?: number;
  filters: readonly MessageShape<F>[];
};

/** Reads and searches the objects of a table. @param missing what `get` throws where there is no such object */
export function objectQueries<T extends Table, F extends DescMessage>(
  deps: QueryDeps,
  table: T,
  searched: Searched<F>,
  missing: () => DomainError,
) {
  const find = rowById(deps.db, table);
  return {
    find,
    async get(instanceId: string, id: string): Promise<Row<T>> {
      const row = await find(instanceId, id);
      if (row === undefined) throw missing();
      return row;
    },
    search: objectSearch(deps, table, searched),
  };
}

/**
 * Searches the rows of a table. Filters and sorts follow from the schema by their names, and by the fields of their
 * messages: a text and a method are compared as they are and by the column of the fold, a date and a method as points in
 * time, `ids` keep by id (`in_user_ids` by the column `userId`), an `id` compares too (`user` with `userId`), and `or`,
 * `and` and `not` hold other filters.
 *
 * @throws Error at the start, where a filter or a sort has no column
 */
export function objectSearch<T extends Table, F extends DescMessage>(
  { db, limits, organizations, secrets }: QueryDeps,
  table: T,
  searched: Searched<F>,
): (scope: Scope, request: SearchRequest<F>) => Promise<Found<Row<T>>> {
  const columnOf = columnsOf(db, table, searched.columns);
  const order = columnOf(searched.order ?? "creationDate");
  const [unsaid, ...named] = searched.sort?.values ?? [];
  // `<ENUM>_UNSPECIFIED` begins as all names of the enum do. Generated names keep that where the enum begins with an acronym.
  const beginning = unsaid?.name.replace(/UNSPECIFIED$/, "").length;
  const sorts = new Map(
    named.map(({ number, name }) => [number, columnOf(camelCase(name.slice(beginning)))]),
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

  return async (scope, request) => {
    const visible = (await searched.visible?.(scope)) ?? [];
    const asked = filterTree<object>(request.filters, async (one) => {
      const { case: name = "", value } = Reflect.get(one, "filter") as Partial<Filter>;
      const others = holding.get(name)?.(value);
      return others ?? { kind: "leaf", condition: await conditions.get(name)?.(value, scope) };
    });
    return search(db, table, {
      instanceId: searched.log?.(scope) ?? scope.instanceId,
      everyInstance: searched.everyInstance === true,
      filters: [...visible, ...(await asked)],
      looksAtEach: looksAtEach(request.filters),
      order: sorts.get(request.sortingColumn ?? 0) ?? order,
      page: toPage(request.query),
      limits,
      cursors: {
        secrets,
        instanceId: scope.instanceId,
        list: listName(searched.filter, request.filters, scope.context),
      },
    });
  };
}

/** The handler of a search: what it found, as the answers of the method have it. */
export const listing =
  <Q, R, M>(
    find: (scope: Scope, request: Q) => Promise<Found<R>>,
    toResult: (row: R) => Awaitable<M>,
  ) =>
  async <P extends Q & { sortingColumn: number }>(request: P, scope: Scope) => {
    const found = await find(scope, request);
    const result = await Promise.all(found.rows.map((row) => toResult(row)));
    // The type of the column is that of the method.
    const sortingColumn: P["sortingColumn"] = request.sortingColumn;
    return { details: toListDetails(found), sortingColumn, result };
  };

type ColumnOf = (name: string) => Column;

const columnsOf =
  (db: Database, table: Table, named: Searched<DescMessage>["columns"]): ColumnOf =>
  (name) =>
    columnIn(db, table, named?.[name] ?? name);

function comparison(
  db: Database,
  organizations: Deps["organizations"],
  columnOf: ColumnOf,
  { localName, message }: DescField,
): (value: never, scope: Scope) => Awaitable<SQL | undefined> {
  const name = localName.replace(/Filter$/, "");
  if (message === undefined) {
    const column = columnOf(name);
    return (value: string | boolean) => eq(column, value);
  }
  switch (message.typeName) {
    case StateFilterSchema.typeName: {
      const column = columnOf(name);
      return (value: StateFilter) => hasState(column, value);
    }
    case OrganizationSchema.typeName: {
      const column = columnOf("organizationId");
      return (value: Organization, { instanceId }) =>
        isOfOrganization(column, organizations, instanceId, value);
    }
  }
  const [first] = message.fields;
  switch (message.field["method"]?.enum?.typeName ?? first?.localName) {
    case TextFilterMethodSchema.typeName: {
      const columns = { exact: columnOf(name), folded: columnOf(`${name}Folded`) };
      const text = first?.localName ?? "";
      return (value: Pick<NameFilter, "method">) =>
        matches(db, columns, value.method, Reflect.get(value, text) as string);
    }
    case TimestampFilterMethodSchema.typeName: {
      const column = columnOf(name);
      return ({ date, method }: DateFilter) => hasTime(column, timestampDate(date), method);
    }
    case "ids": {
      const [, of = ""] = /^in(.*)Ids$/.exec(name) ?? [];
      const column = columnOf(of === "" ? "id" : `${of[0]?.toLowerCase()}${of.slice(1)}Id`);
      return ({ ids }: InIDsFilter) => isOneOf(column, ids);
    }
    case "id": {
      const column = columnOf(name === "id" ? name : `${name}Id`);
      return ({ id }: { id: string }) => eq(column, id);
    }
    default:
      throw new Error(`nothing answers the filter ${name} of ${message.typeName}`);
  }
}

// Validation lets no date pass that is not given.
type DateFilter = { date: Timestamp; method: TimestampFilterMethod };

/** As code spells what the schema and declarations do in snake_case. */
export const camelCase = (name: string): string =>
  name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
