import { rowById } from "../../projection/ids.ts";
import {
  MembershipFieldName,
  type MembershipSearchFilter,
} from "#gen/idsvc/resources/membership/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Membership, Reach } from "../../authz/permissions.ts";
import type { MembershipReader } from "../../authz/ports.ts";
import { memberPermission } from "../../authz/roles.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../projection/search.ts";
import type { Database } from "../../storage/database.ts";
import { and, type Column, eq, or, type SQL } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { hasId } from "../object/filters.ts";
import { callerId, type Tenancy } from "../../authz/tenancy.ts";
import { memberships } from "./projection.ts";

export type MembershipRow = Row<typeof memberships>;

const contextTypes: ReadonlyMap<string, Membership["contextType"]> = new Map([
  ["system", "system"],
  ["instance", "instance"],
  ["organization", "organization"],
  ["project", "project"],
  ["projectGrant", "projectGrant"],
]);

/** The memberships of a user, never older than the last write that changed any (B7). */
export function membershipReader(db: Database): MembershipReader {
  const t = db.table(memberships);
  return {
    ofUser: cachedRead(db, [memberships], async (instanceId, userId) => {
      const rows = await db.read
        .select()
        .from(t)
        .where(and(eq(t.instanceId, instanceId), eq(t.userId, userId)));
      return rows.flatMap(({ contextType, contextId, organizationId, roles, isAccepted }) => {
        const type = contextTypes.get(contextType);
        return type === undefined || !isAccepted
          ? []
          : [{ contextType: type, contextId, organizationId, roles }];
      });
    }),
  };
}

export function membershipQueries(
  { db, limits }: Pick<Deps, "db" | "limits">,
  tenancy: Tenancy,
  toContextId: (scope: Scope, context: MembershipSearchFilter["filter"]) => Promise<ContextKey>,
) {
  const t = db.table(memberships);
  const columns: Record<number, Column> = {
    [MembershipFieldName.ID]: t.id,
    [MembershipFieldName.CREATION_DATE]: t.creationDate,
    [MembershipFieldName.CHANGE_DATE]: t.changeDate,
    [MembershipFieldName.USER_ID]: t.userId,
  };

  async function condition(scope: Scope, { filter }: MembershipSearchFilter) {
    switch (filter.case) {
      case "inIds":
        return hasId(t.id, filter.value);
      case "inUserIds":
        return hasId(t.userId, filter.value);
      case "context": {
        const { contextType, contextId } = await toContextId(scope, filter);
        return and(eq(t.contextType, contextType), eq(t.contextId, contextId));
      }
      case "role":
        return db.hasMember(t.roles, filter.value.role);
      default:
        return undefined;
    }
  }

  // Each kind of context has a permission of its own, and everybody sees his own memberships.
  function readable(scope: Scope): SQL | undefined {
    const { permissions } = scope;
    const kinds: (SQL | undefined)[] = [eq(t.userId, callerId(scope) ?? "")];
    for (const type of ["system", "instance"] as const) {
      if (permissions.holds(memberPermission(type, "read"), { type })) {
        kinds.push(eq(t.contextType, type));
      }
    }
    const below = ["organization", "project", "projectGrant"] as const;
    for (const type of below) {
      const reach = permissions.reach(memberPermission(type, "read"));
      kinds.push(and(eq(t.contextType, type), within(reach)));
    }
    return or(...kinds);
  }

  const within = ({ everywhere, organizations, projects, projectGrants }: Reach) =>
    everywhere
      ? undefined
      : or(
          isOneOf(t.organizationId, organizations),
          isOneOf(t.projectId, projects),
          isOneOf(t.contextId, projectGrants),
        );

  return {
    find: rowById(db, memberships),

    async search(
      scope: Scope,
      asked: {
        filters: MembershipSearchFilter[];
        sortingColumn: MembershipFieldName;
        page: Page;
      },
    ): Promise<Found<MembershipRow>> {
      const living = await tenancy.living(scope, { organizationId: t.organizationId });
      const filters = await Promise.all(asked.filters.map((one) => condition(scope, one)));
      return search(db, memberships, {
        instanceId: scope.instanceId,
        filters: [readable(scope), ...living, ...filters],
        order: columns[asked.sortingColumn] ?? t.creationDate,
        page: asked.page,
        limits,
      });
    },
  };
}

export type ContextKey = { contextType: string; contextId: string };
