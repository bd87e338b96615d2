import type {
  InIDsFilter,
  ListQuery,
  StateFilter,
  TextFilterMethod,
} from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import type { Database } from "../../storage/database.ts";
import type { Column, SQL } from "../../storage/drizzle.ts";
import { hasId, matches } from "../object/filters.ts";
import { toPage } from "../object/list.ts";
import { type EffectiveState, fromState } from "../reuse/index.ts";
import type { Page } from "../../projection/search.ts";

type Columns = Record<
  "id" | "description" | "descriptionFolded" | "creationDate" | "changeDate",
  Column
>;

/** A search, over the columns that providers of all kinds have. */
export type ProviderSearch = {
  filters(columns: Columns): (SQL | undefined)[];
  /** Keeps those that are in these states in the context of the search. */
  states: EffectiveState[];
  order(columns: Columns): Column;
  page: Page;
};

/** The filters of all kinds have one shape in the schema. */
type Filter = {
  filter:
    | { case: "inIds"; value: InIDsFilter }
    | { case: "description"; value: { description: string; method: TextFilterMethod } }
    | { case: "state"; value: StateFilter }
    | { case: undefined };
};

// The numbers of the columns are the same in the schemas of all kinds.
const columnNames: Record<number, keyof Columns> = {
  1: "id",
  2: "creationDate",
  3: "changeDate",
  4: "description",
};

export const toSearch = (
  db: Database,
  asked: { query?: ListQuery | undefined; sortingColumn: number; filters: readonly Filter[] },
): ProviderSearch => ({
  filters: (t) =>
    asked.filters.map(({ filter }) => {
      if (filter.case === "inIds") return hasId(t.id, filter.value);
      if (filter.case !== "description") return undefined;
      const { description, method } = filter.value;
      const columns = { exact: t.description, folded: t.descriptionFolded };
      return matches(db, columns, method, description);
    }),
  states: asked.filters.flatMap(({ filter }) =>
    filter.case === "state" ? [fromState(filter.value.state)] : [],
  ),
  order: (t) => t[columnNames[asked.sortingColumn] ?? "creationDate"],
  page: toPage(asked.query),
});
