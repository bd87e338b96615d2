import { isOneOf } from "../../projection/rows.ts";
import type { SearchIDPsRequest } from "#gen/idsvc/resources/idp/v3alpha/identity_provider_service_pb.ts";
import {
  IDPFieldNameSchema,
  IDPSearchFilterSchema,
} from "#gen/idsvc/resources/idp/v3alpha/query_pb.ts";
import type { Scope } from "../../authz/context.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found } from "../../projection/search.ts";
import { eq, ne, or, type SQL, sql } from "../../storage/drizzle.ts";
import type { Row } from "../../storage/table.ts";
import { fromState } from "../object/filters.ts";
import { ownerWithin } from "../object/details.ts";
import { objectQueries } from "../object/queries.ts";
import { actingContext } from "../object/reuse/context.ts";
import { createReuse, type Reusable, type SeenResource } from "../object/reuse/reuse.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import { idpNotFound } from "./idp.ts";
import { idpPolicies, idps } from "./projection.ts";

export type IdpRow = Row<typeof idps>;
/** A provider, and how a context sees it. */
export type SeenIdp = { row: IdpRow; seen: SeenResource };

export const ownerOf = ({
  instanceId,
  organizationId,
}: Pick<IdpRow, "instanceId" | "organizationId">): OwnerRef =>
  ownerWithin(instanceId, organizationId);

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

export function idpQueries(
  deps: Pick<Deps, "db" | "limits" | "organizations" | "secrets" | "tenancy">,
) {
  const { db, tenancy } = deps;
  const t = db.table(idps);
  const reuse = createReuse(db, idpPolicies);
  const nothing = sql`1 = 0`;

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

  const { find, get, search } = objectQueries(
    deps,
    idps,
    {
      filter: IDPSearchFilterSchema,
      sort: IDPFieldNameSchema,
      filters: {
        state: ({ state }, scope) =>
          reuse.hasState(scope.instanceId, t, ownerIn(scope), fromState(state)),
      },
      visible,
    },
    idpNotFound,
  );

  return {
    find,
    get,

    async see(row: IdpRow, from: OwnerRef): Promise<SeenIdp> {
      const [seen] = await reuse.see(row.instanceId, [toReusable(row)], from);
      if (seen === undefined) throw new Error("each resource is seen");
      return { row, seen };
    },

    /** As the organization of the call sees them; without one each as the context that it belongs to. */
    async search(scope: Scope, request: SearchIDPsRequest): Promise<Found<SeenIdp>> {
      const from = scope.context.type === "organization" ? ownerIn(scope) : undefined;
      const found = await search(scope, request);
      const seen = await reuse.see(scope.instanceId, found.rows.map(toReusable), from);
      return {
        ...found,
        rows: found.rows.map((row, at) => ({ row, seen: seen[at] as SeenResource })),
      };
    },
  };
}

/** The context that a call makes and sees providers in. */
export const ownerIn = ({ context, instanceId }: Scope): OwnerRef =>
  ownerWithin(instanceId, context.type === "organization" ? context.organizationId : "");
