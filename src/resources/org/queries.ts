import { countIds, rowById, type SomeIds } from "../../projection/ids.ts";
import { and, asc, type Column, desc, eq, exists, type SQL, sql } from "../../storage/drizzle.ts";
import {
  OrganizationFieldName,
  type OrganizationSearchFilter,
} from "#gen/idsvc/resources/org/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { OrganizationReader } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, type Page, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { hasId, hasName, hasState, matches } from "../object/filters.ts";
import { organizationNotFound } from "./org.ts";
import { organizationDomains, organizations } from "./projection.ts";
import type { Tenancy } from "./tenancy.ts";

export type OrganizationRow = Row<typeof organizations>;

export function organizationReader(db: Database): OrganizationReader {
  const t = db.table(organizations);
  const d = db.table(organizationDomains);
  return {
    byId: cachedRead(db, [organizations], async (instanceId, id) => {
      const [row] = await db.read
        .select({ id: t.id, state: t.state })
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
      return row;
    }),
    byDomain: cachedRead(db, [organizations, organizationDomains], async (instanceId, domain) => {
      const [row] = await db.read
        .select({ id: d.organizationId })
        .from(d)
        .where(and(eq(d.instanceId, instanceId), eq(d.domain, domain), eq(d.isVerified, true)));
      return row;
    }),
  };
}

/** How an organization is called, from memory where no organization has changed; empty texts where there is none. */
export function organizationNames(db: Database) {
  const t = db.table(organizations);
  return cachedRead(db, [organizations], async (instanceId, id) => {
    const [row] = await db.read
      .select({ name: t.name, primaryDomain: t.primaryDomain })
      .from(t)
      .where(and(eq(t.instanceId, instanceId), eq(t.id, id)));
    return row ?? { name: "", primaryDomain: "" };
  });
}

/** How many organizations of an instance meet a condition, and the ids of some. */
export function organizationsWhere(
  db: Database,
  instanceId: string,
  condition: (id: Column) => SQL | undefined,
  limit: number,
): Promise<SomeIds> {
  const t = db.table(organizations);
  return countIds(db, organizations, and(eq(t.instanceId, instanceId), condition(t.id)), limit);
}

/** Keeps the rows of organizations that are active. */
export function isInActiveOrganization(
  db: Database,
  row: { instanceId: Column; organizationId: Column },
): SQL {
  const t = db.table(organizations);
  const active = db.read
    .select({ one: sql`1` })
    .from(t)
    .where(
      and(eq(t.instanceId, row.instanceId), eq(t.id, row.organizationId), eq(t.state, "active")),
    );
  return exists(active);
}

/** The verified domains of an organization, the primary one first: what login names end in. */
export function verifiedDomains(db: Database) {
  const d = db.table(organizationDomains);
  return cachedRead(db, [organizationDomains], async (instanceId, organizationId) => {
    const rows = await db.read
      .select({ domain: d.domain })
      .from(d)
      .where(
        and(
          eq(d.instanceId, instanceId),
          eq(d.organizationId, organizationId),
          eq(d.isVerified, true),
        ),
      )
      .orderBy(desc(d.isPrimary), asc(d.domain));
    return rows.map(({ domain }) => domain);
  });
}

/** Who has a verified domain, since when, and whether more than nobody having asked for a proof stands behind it. */
export function domainHolder(db: Database) {
  const d = db.table(organizationDomains);
  return cachedRead(db, [organizationDomains], async (instanceId, domain) => {
    const [row] = await db.read
      .select({
        organizationId: d.organizationId,
        validationType: d.validationType,
        since: d.verifiedAt,
      })
      .from(d)
      .where(and(eq(d.instanceId, instanceId), eq(d.domain, domain), eq(d.isVerified, true)));
    if (row === undefined) return undefined;
    const { organizationId, since } = row;
    return { organizationId, since, isProven: row.validationType !== "" };
  });
}

/** The domains of which an organization has shown that they are its own: more than that nobody asked for a proof. */
export function provenDomains(db: Database) {
  const d = db.table(organizationDomains);
  return cachedRead(db, [organizationDomains], async (instanceId, organizationId) => {
    const rows = await db.read
      .select({ domain: d.domain, validationType: d.validationType })
      .from(d)
      .where(
        and(
          eq(d.instanceId, instanceId),
          eq(d.organizationId, organizationId),
          eq(d.isVerified, true),
        ),
      );
    return rows.filter((row) => row.validationType !== "").map(({ domain }) => domain);
  });
}

export type OrganizationQueries = {
  get(instanceId: string, id: string): Promise<OrganizationRow>;
  search(
    scope: Scope,
    asked: {
      filters: OrganizationSearchFilter[];
      sortingColumn: OrganizationFieldName;
      page: Page;
    },
  ): Promise<Found<OrganizationRow>>;
};

export function organizationQueries(
  { db, limits }: Pick<Deps, "db" | "limits">,
  tenancy: Tenancy,
): OrganizationQueries {
  const t = db.table(organizations);
  const byId = rowById(db, organizations);
  const d = db.table(organizationDomains);
  const columns: Record<number, Column> = {
    [OrganizationFieldName.ID]: t.id,
    [OrganizationFieldName.CREATION_DATE]: t.creationDate,
    [OrganizationFieldName.CHANGE_DATE]: t.changeDate,
    [OrganizationFieldName.NAME]: t.name,
  };

  const condition = ({ filter }: OrganizationSearchFilter) => {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "name":
        return hasName(db, { exact: t.name, folded: t.nameFolded }, filter.value);
      case "state":
        return hasState(t.state, filter.value);
      case "domain": {
        const { domain, method } = filter.value;
        const either = { exact: d.domain, folded: d.domain };
        const matching = db.read
          .select({ one: sql`1` })
          .from(d)
          .where(
            and(
              eq(d.instanceId, t.instanceId),
              eq(d.organizationId, t.id),
              eq(d.isVerified, true),
              matches(db, either, method, domain.toLowerCase()),
            ),
          );
        return exists(matching);
      }
      default:
        return undefined;
    }
  };

  return {
    async get(instanceId, id) {
      const row = await byId(instanceId, id);
      if (row === undefined) throw organizationNotFound();
      return row;
    },
    async search(scope, { filters, sortingColumn, page }) {
      const visible = await tenancy.visible(scope, { organizationId: t.id });
      return search(db, organizations, {
        instanceId: scope.instanceId,
        filters: [...visible, ...filters.map(condition)],
        order: columns[sortingColumn] ?? t.creationDate,
        page,
        limits,
      });
    },
  };
}
