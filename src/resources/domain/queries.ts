import { rowById } from "../../projection/ids.ts";
import {
  DomainFieldName,
  type DomainSearchFilter,
} from "#gen/idsvc/resources/domain/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { domainPermission } from "../../authz/roles.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../projection/search.ts";
import { type Column, eq, or, type SQL, sql } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { hasId, hasName } from "../object/filters.ts";
import type { Tenancy } from "../../authz/tenancy.ts";
import { domains } from "./projection.ts";

export type DomainRow = Row<typeof domains>;

export function domainQueries(
  { db, limits, organizations }: Pick<Deps, "db" | "limits" | "organizations">,
  tenancy: Tenancy,
) {
  const t = db.table(domains);
  const columns: Record<number, Column> = {
    [DomainFieldName.ID]: t.id,
    [DomainFieldName.CREATION_DATE]: t.creationDate,
    [DomainFieldName.CHANGE_DATE]: t.changeDate,
    [DomainFieldName.NAME]: t.name,
  };

  async function condition({ instanceId }: Scope, { filter }: DomainSearchFilter) {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "name":
        return hasName(db, { exact: t.name, folded: t.nameFolded }, filter.value);
      case "organization": {
        const { case: by, value = "" } = filter.value.org;
        const found =
          by === "orgDomain"
            ? await organizations.byDomain(instanceId, value.toLowerCase())
            : { id: value };
        return found === undefined ? sql`1 = 0` : eq(t.organizationId, found.id);
      }
      case "verified":
        return eq(t.isVerified, filter.value.isVerified);
      default:
        return undefined;
    }
  }

  // The instance's own and those of organizations are guarded by permissions of their own.
  function readable({ permissions }: Scope): SQL | undefined {
    const { everywhere, organizations: within } = permissions.reach(
      domainPermission("organization", "read"),
    );
    const ofInstance = permissions.holds(domainPermission("instance", "read"), {
      type: "instance",
    });
    if (everywhere && ofInstance) return undefined;
    return or(
      ofInstance ? eq(t.organizationId, "") : sql`1 = 0`,
      everywhere ? sql`${t.organizationId} <> ''` : isOneOf(t.organizationId, within),
    );
  }

  return {
    find: rowById(db, domains),
    async search(
      scope: Scope,
      asked: { filters: DomainSearchFilter[]; sortingColumn: DomainFieldName; page: Page },
    ): Promise<Found<DomainRow>> {
      const living = await tenancy.living(scope, { organizationId: t.organizationId });
      const filters = await Promise.all(asked.filters.map((one) => condition(scope, one)));
      return search(db, domains, {
        instanceId: scope.instanceId,
        filters: [readable(scope), ...living, ...filters],
        order: columns[asked.sortingColumn] ?? t.creationDate,
        page: asked.page,
        limits,
      });
    },
  };
}
