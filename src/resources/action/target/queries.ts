import type { Column } from "../../../storage/drizzle.ts";
import {
  TargetFieldName,
  type TargetSearchFilter,
} from "#gen/idsvc/resources/action/v3alpha/query_pb.ts";
import { rowById } from "../../../projection/ids.ts";
import type { Deps } from "../../../projection/module.ts";
import { type Found, isOneOf, matchesText, type Page, search } from "../../../projection/search.ts";
import type { Row } from "../../../storage/table.ts";
import { toTextMethod } from "../../object/list.ts";
import { targetNotFound } from "./target.ts";
import { targets } from "./projection.ts";

export type TargetRow = Row<typeof targets>;

export type TargetQueries = {
  get(instanceId: string, id: string): Promise<TargetRow>;
  search(
    instanceId: string,
    asked: { filters: TargetSearchFilter[]; sortingColumn: TargetFieldName; page: Page },
  ): Promise<Found<TargetRow>>;
};

export function targetQueries({ db, limits }: Pick<Deps, "db" | "limits">): TargetQueries {
  const t = db.table(targets);
  const columns: Record<number, Column> = {
    [TargetFieldName.ID]: t.id,
    [TargetFieldName.CREATION_DATE]: t.creationDate,
    [TargetFieldName.CHANGE_DATE]: t.changeDate,
    [TargetFieldName.NAME]: t.name,
    [TargetFieldName.TARGET_TYPE]: t.kind,
    [TargetFieldName.URL]: t.url,
    [TargetFieldName.TIMEOUT]: t.timeoutMs,
    [TargetFieldName.ASYNC]: t.isAsync,
    [TargetFieldName.INTERRUPT_ON_ERROR]: t.interruptOnError,
  };
  const byId = rowById(db, targets);

  const condition = ({ filter }: TargetSearchFilter) => {
    switch (filter.case) {
      case "name": {
        const { name, method } = filter.value;
        return matchesText(db, { exact: t.name, folded: t.nameFolded }, toTextMethod(method), name);
      }
      case "inIds":
        return isOneOf(t.id, filter.value.ids);
      default:
        return undefined;
    }
  };

  return {
    async get(instanceId, id) {
      const row = await byId(instanceId, id);
      if (row === undefined) throw targetNotFound();
      return row;
    },
    search: (instanceId, { filters, sortingColumn, page }) =>
      search(db, targets, {
        instanceId,
        filters: filters.map(condition),
        order: columns[sortingColumn] ?? t.creationDate,
        page,
        limits,
      }),
  };
}
