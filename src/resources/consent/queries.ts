import {
  ConsentFieldName,
  type ConsentSearchFilter,
} from "#gen/idsvc/resources/consent/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { rowById } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, type Page, search } from "../../projection/search.ts";
import { type Column, eq, type SQL } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { hasId } from "../object/filters.ts";
import type { Tenancy } from "../../authz/tenancy.ts";
import { consents } from "./projection.ts";

export type ConsentRow = Row<typeof consents>;

export function consentQueries({ db, limits }: Pick<Deps, "db" | "limits">, tenancy: Tenancy) {
  const t = db.table(consents);
  const columns: Record<number, Column> = {
    [ConsentFieldName.ID]: t.id,
    [ConsentFieldName.CREATION_DATE]: t.creationDate,
    [ConsentFieldName.CHANGE_DATE]: t.changeDate,
  };

  function condition({ filter }: ConsentSearchFilter): SQL | undefined {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "userId":
        return eq(t.userId, filter.value);
      case "clientId":
        return eq(t.clientId, filter.value);
      default:
        return undefined;
    }
  }

  return {
    find: rowById(db, consents),

    async search(
      scope: Scope,
      asked: { filters: ConsentSearchFilter[]; sortingColumn: ConsentFieldName; page: Page },
    ): Promise<Found<ConsentRow>> {
      const { organizationId, userId } = t;
      const visible = await tenancy.visible(scope, { organizationId, userId });
      return search(db, consents, {
        instanceId: scope.instanceId,
        filters: [...visible, ...asked.filters.map(condition)],
        order: columns[asked.sortingColumn] ?? t.creationDate,
        page: asked.page,
        limits,
      });
    },
  };
}
