import { IDPFieldName, type IDPSearchFilter } from "#gen/idsvc/resources/idp/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import { rowById } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, isOneOf, type Page, search } from "../../projection/search.ts";
import { eq, ne, or, type SQL, sql } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { hasName } from "../object/filters.ts";

import {
  actingContext,
  createReuse,
  fromState,
  type Reusable,
  type SeenResource,
  type StatePolicy,
} from "../reuse/index.ts";
import { idpNotFound } from "./idp.ts";
import { idpPolicies, idps } from "./projection.ts";
import { looksAtEach } from "../object/list.ts";

export type IdpRow = Row<typeof idps>;
/** A provider, and how a context sees it. */
export type SeenIdp = { row: IdpRow; seen: SeenResource };

export const ownerOf = ({
  instanceId,
  organizationId,
}: Pick<IdpRow, "instanceId" | "organizationId">): OwnerRef =>
  organizationId === ""
    ? { type: "instance", id: instanceId }
    : { type: "org", id: organizationId };

/**
 * The context that a call acts on a provider in.
 *
 * @throws NOT_FOUND IDP_NOT_FOUND for an organization that does not have it
 */
export function contextOf(scope: Scope, row: IdpRow): OwnerRef {
  const context = actingContext(scope, ownerOf(row));
  if (context === undefined) throw idpNotFound();
  return context;
}

const toReusable = (row: IdpRow): Reusable => ({
  ...row,
  owner: ownerOf(row),
  statePolicy: row.statePolicy as StatePolicy,
});

export function idpQueries(deps: Pick<Deps, "db" | "limits" | "tenancy">) {
  const { db, limits, tenancy } = deps;
  const t = db.table(idps);
  const reuse = createReuse(db, idpPolicies);
  const nothing = sql`1 = 0`;

  const condition = (scope: Scope, from: OwnerRef, { filter }: IDPSearchFilter) => {
    switch (filter.case) {
      case "id":
        return eq(t.id, filter.value.id);
      case "name":
        return hasName(db, { exact: t.name, folded: t.nameFolded }, filter.value);
      case "state": {
        const state = fromState(filter.value.state);
        return reuse.hasState(scope.instanceId, t, from, state);
      }
      default:
        return undefined;
    }
  };

  // What an organization has or inherits; from the instance, all that is there.
  async function visible(scope: Scope): Promise<(SQL | undefined)[]> {
    const { context, permissions, policy } = scope;
    const ofInstance = eq(t.organizationId, "");
    if (context.type === "organization") {
      const { organizationId: id } = context;
      const isAllowed = permissions.holds(policy.read, { type: "organization", id });
      return [isAllowed ? or(ofInstance, eq(t.organizationId, id)) : nothing];
    }
    const { everywhere, organizations } = permissions.reach(policy.read);
    const onInstance = permissions.holds(policy.read, { type: "instance" });
    return [
      or(
        onInstance ? ofInstance : nothing,
        everywhere ? ne(t.organizationId, "") : isOneOf(t.organizationId, organizations),
      ),
      ...(await tenancy.living(scope, { organizationId: t.organizationId })),
    ];
  }

  return {
    find: rowById(db, idps),

    async see(row: IdpRow, from: OwnerRef): Promise<SeenIdp> {
      const [seen] = await reuse.see(row.instanceId, [toReusable(row)], from);
      if (seen === undefined) throw new Error("each resource is seen");
      return { row, seen };
    },

    async search(
      scope: Scope,
      asked: { filters: IDPSearchFilter[]; sortingColumn: IDPFieldName; page: Page },
    ): Promise<Found<SeenIdp>> {
      const { instanceId, context } = scope;
      const organization: OwnerRef | undefined =
        context.type === "organization" ? { type: "org", id: context.organizationId } : undefined;
      const from: OwnerRef = organization ?? { type: "instance", id: instanceId };
      const found = await search(db, idps, {
        instanceId,
        looksAtEach: looksAtEach(asked.filters),
        filters: [
          ...(await visible(scope)),
          ...asked.filters.map((filter) => condition(scope, from, filter)),
        ],
        order: asked.sortingColumn === IDPFieldName.IDP_FIELD_NAME_NAME ? t.name : t.creationDate,
        page: asked.page,
        limits,
      });
      const seen = await reuse.see(instanceId, found.rows.map(toReusable), organization);
      return {
        ...found,
        rows: found.rows.map((row, at) => ({ row, seen: seen[at] as SeenResource })),
      };
    },
  };
}
