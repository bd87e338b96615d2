import { type Awaitable, whenKnown } from "../../awaitable.ts";
import { countIds, rowByKey, type SomeIds } from "../../projection/ids.ts";
import { columnsWhere, equals, hasRow, rowsWhere } from "../../projection/rows.ts";
import { and, asc, type Column, desc, eq, inArray, type SQL } from "../../storage/drizzle.ts";
import {
  OrganizationFieldNameSchema,
  OrganizationSearchFilterSchema,
} from "#gen/idsvc/resources/org/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { OrganizationReader } from "../../authz/ports.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { loginSettingsReader } from "../../settings/policy/login.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { matches } from "../object/filters.ts";
import { organizationDomains, organizationNotFound, organizations } from "./organization.ts";
import { type Finder, finder } from "../object/finder.ts";
import { objectQueries } from "../object/queries.ts";

export type OrganizationRow = Row<typeof organizations>;

export function organizationReader(db: Database): OrganizationReader {
  const rowOf = rowByKey(db, organizations);
  const holders = domainHolders(db);
  return {
    byId: cachedRead(db, [organizations], rowOf),
    byDomain: (instanceId, domain) =>
      whenKnown(holders(instanceId, domain), ([first]) => first && { id: first.organizationId }),
  };
}

/**
 * How an organization is called, and what its login names end in; from memory where no organization has changed, and empty
 * texts where there is none.
 */
export function organizationNames(db: Database) {
  const domainsOf = verifiedDomains(db);
  const organizationOf = cachedRead(db, [organizations], rowByKey(db, organizations));
  return (instanceId: string, id: string) =>
    whenKnown(organizationOf(instanceId, id), (found) =>
      whenKnown(domainsOf(instanceId, id), ([primaryDomain = ""]) => ({
        name: found?.name ?? "",
        primaryDomain,
      })),
    );
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
  const { instanceId, organizationId: id } = row;
  return hasRow(db, organizations, { instanceId, id, state: "active" });
}

/**
 * Keeps the domains that count now: where domains are to be proven, one that nobody was asked to prove makes no login name
 * (J10).
 */
function countingDomains(db: Database) {
  const loginOf = loginSettingsReader(db);
  return <R extends { isUnasked: boolean }>(instanceId: string, rows: readonly R[]) =>
    rows.some(({ isUnasked }) => isUnasked)
      ? whenKnown(loginOf(instanceId), ({ validateOrgDomains }) =>
          validateOrgDomains ? rows.filter(({ isUnasked }) => !isUnasked) : rows,
        )
      : rows;
}

/** The verified domains of an organization that count, the primary one first: what login names end in. */
export function verifiedDomains(db: Database) {
  const counting = countingDomains(db);
  const read = cachedRead(db, [organizationDomains], async (instanceId, organizationId) =>
    columnsWhere(
      db,
      organizationDomains,
      ["domain", "isUnasked"],
      { instanceId, organizationId, isVerified: true },
      ["-isPrimary", "domain"],
    ),
  );
  const named = keptNames();
  return (instanceId: string, organizationId: string): Awaitable<readonly string[]> =>
    whenKnown(read(instanceId, organizationId), (rows) =>
      whenKnown(counting(instanceId, rows), named),
    );
}

/** The names of rows that are read again and again. */
function keptNames() {
  const kept = new WeakMap<readonly object[], readonly string[]>();
  return (rows: readonly { domain: string }[]): readonly string[] => {
    let names = kept.get(rows);
    if (names === undefined) kept.set(rows, (names = rows.map(({ domain }) => domain)));
    return names;
  };
}

// Whoever claims a domain later than so many others makes no login names by it until it is proven.
const mostHolders = 100;

/**
 * The organizations that have a verified domain that counts, and since when: the one that has proven it alone, else all that
 * claim it, those who did first before others.
 */
export function domainHolders(db: Database) {
  const d = db.table(organizationDomains);
  const counting = countingDomains(db);
  const read = cachedRead(db, [organizationDomains], async (instanceId, domain) => {
    const rows = await db.read
      .select({
        organizationId: d.organizationId,
        isProven: d.isProven,
        isUnasked: d.isUnasked,
        since: d.verifiedAt,
      })
      .from(d)
      .where(equals(db, organizationDomains, { instanceId, domain, isVerified: true }))
      .orderBy(desc(d.isProven), asc(d.verifiedAt))
      .limit(mostHolders);
    return rows[0]?.isProven === true ? rows.slice(0, 1) : rows;
  });
  return (instanceId: string, domain: string) =>
    whenKnown(read(instanceId, domain), (rows) => counting(instanceId, rows));
}

/** The domains of which an organization has shown that they are its own: more than that nobody asked for a proof. */
export function provenDomains(db: Database) {
  return cachedRead(db, [organizationDomains], async (instanceId, organizationId) => {
    const proven = { instanceId, organizationId, isProven: true };
    return (await rowsWhere(db, organizationDomains, proven)).map(({ domain }) => domain);
  });
}

const visibleTo = ({ db, tenancy }: Pick<Deps, "db" | "tenancy">) => {
  const { id } = db.table(organizations);
  return (scope: Scope) => tenancy.visible(scope, { organizationId: id });
};

/** Finds organizations by ID and name. */
export function organizationFinder(deps: Pick<Deps, "db" | "tenancy">): Finder<OrganizationRow> {
  const { id, nameFolded } = deps.db.table(organizations);
  return finder(deps.db, organizations, {
    keys: (text) => [eq(id, text)],
    names: [[nameFolded]],
    visible: visibleTo(deps),
  });
}

export function organizationQueries(deps: Deps) {
  const { db } = deps;
  const t = db.table(organizations);
  const d = db.table(organizationDomains);
  return objectQueries(
    deps,
    organizations,
    {
      filter: OrganizationSearchFilterSchema,
      sort: OrganizationFieldNameSchema,
      filters: {
        domain({ domain, method }, { instanceId }) {
          const either = { exact: d.domain, folded: d.domain };
          const having = db.read
            .select({ id: d.organizationId })
            .from(d)
            .where(
              and(
                eq(d.instanceId, instanceId),
                eq(d.isVerified, true),
                matches(db, either, method, domain.toLowerCase()),
              ),
            );
          return inArray(t.id, having);
        },
      },
      visible: visibleTo(deps),
    },
    organizationNotFound,
  );
}
