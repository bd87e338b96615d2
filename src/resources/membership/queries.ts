import { setImmediate as turn } from "node:timers/promises";
import type { MembershipContext } from "#gen/idsvc/resources/membership/v3alpha/membership_pb.ts";
import {
  MembershipFieldNameSchema,
  MembershipSearchFilterSchema,
} from "#gen/idsvc/resources/membership/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { Membership, Reach } from "../../authz/permissions.ts";
import type { MembershipReader } from "../../authz/ports.ts";
import { memberPermission } from "../../authz/roles.ts";
import type { Deps } from "../../projection/module.ts";
import type { Database } from "../../storage/database.ts";
import { isOneOf, rowsWhere } from "../../projection/rows.ts";
import { and, eq, or, type SQL } from "../../storage/drizzle.ts";
import { cachedRead } from "../../storage/read-cache.ts";
import type { Row } from "../../storage/table.ts";
import { callerId } from "../../authz/tenancy.ts";
import { objectQueries } from "../object/queries.ts";
import { membershipNotFound } from "./membership.ts";
import { memberships } from "./projection.ts";

export type MembershipRow = Row<typeof memberships>;

/**
 * The memberships of a user, never older than the last write of this process that changed any (B7). Where they are read from the
 * store, nothing that is cached is older than they are from then on.
 */
export function membershipReader(db: Database): MembershipReader {
  return {
    ofUser: cachedRead(db, [memberships], async (instanceId, userId) => {
      const rows = await rowsWhere(db, memberships, { instanceId, userId });
      // The store is looked at once a turn of the event loop.
      await turn();
      await db.catchUp();
      return rows
        .filter(({ isAccepted }) => isAccepted)
        .map(({ contextType, contextId, organizationId, roles }) => ({
          // The projection writes no other kind of context.
          contextType: contextType as Membership["contextType"],
          contextId,
          organizationId,
          roles,
        }));
    }),
  };
}

export function membershipQueries(
  deps: Deps,
  toContextId: (scope: Scope, context: MembershipContext) => Promise<ContextKey>,
) {
  const { db, tenancy } = deps;
  const t = db.table(memberships);
  const { organizationId } = t;

  // Each kind of context has a permission of its own, and everybody sees their own memberships.
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

  return objectQueries(
    deps,
    memberships,
    {
      filter: MembershipSearchFilterSchema,
      sort: MembershipFieldNameSchema,
      filters: {
        async context(named, scope) {
          const { contextType, contextId } = await toContextId(scope, named);
          return and(eq(t.contextType, contextType), eq(t.contextId, contextId));
        },
        role: ({ role }) => db.hasMember(t.roles, role),
      },
      visible: async (scope) => [
        readable(scope),
        ...(await tenancy.living(scope, { organizationId })),
      ],
    },
    membershipNotFound,
  );
}

export type ContextKey = { contextType: string; contextId: string };
