import type { StateFilter } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";
import { isOneOf } from "../../projection/rows.ts";
import type { Scope } from "../../authz/context.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found } from "../../projection/search.ts";
import { eq, inArray, ne, or, type SQL, sql } from "../../storage/drizzle.ts";
import { contextInvalid } from "../../authz/tenancy.ts";
import { fromState } from "../object/filters.ts";
import { objectQueries } from "../object/queries.ts";
import { instances } from "../instance/index.ts";
import { actingContext } from "../object/reuse/context.ts";
import { createReuse, type Reusable, type SeenResource } from "../object/reuse/reuse.ts";
import type { EffectiveState, StatePolicy } from "../object/reuse/state.ts";
import { inForceReader } from "./in-force.ts";
import { type ProviderConfig, providerNotFound } from "./kind.ts";
import { isReusable, logOf, logsOf, ownerOf, type ProviderStorage, systemLog } from "./storage.ts";
import type { ProviderRow } from "./projection.ts";

/** A provider, and how a context sees it. */
export type SeenProvider<C extends ProviderConfig> = { row: ProviderRow<C>; seen: SeenResource };

export function providerQueries<C extends ProviderConfig>(
  deps: Pick<Deps, "db" | "limits" | "organizations" | "secrets">,
  storage: ProviderStorage<C>,
) {
  const { db } = deps;
  const { kind, providers } = storage;
  const t = db.table(providers);
  const i = db.table(instances);
  const reuse = createReuse(db, storage.policies);
  const inForce = inForceReader(db, storage);

  /** Of the system, those of the instances below it as well, but for what deleted instances left behind. */
  const ofContext = (context: OwnerRef): SQL | undefined =>
    context.type === "system"
      ? or(eq(t.instanceId, systemLog), inArray(t.instanceId, db.read.select({ id: i.id }).from(i)))
      : isOneOf(t.instanceId, logsOf(kind, context));

  async function inState(context: OwnerRef, state: EffectiveState): Promise<SQL | undefined> {
    if (context.type === "system") return eq(t.state, state);
    const chosen = await inForce(context);
    if (chosen === undefined) return state === "active" ? sql`1 = 0` : undefined;
    return state === "active" ? eq(t.id, chosen.id) : ne(t.id, chosen.id);
  }

  const { find: byId, search } = objectQueries(
    deps,
    providers,
    {
      ...kind.searched,
      filters: {
        state: ({ state }: StateFilter, scope: Scope) =>
          inState(contextNamed(scope), fromState(state)),
      },
      visible: (scope) => [ofContext(contextNamed(scope))],
      log: (scope) => logOf(contextNamed(scope)),
      everyInstance: true,
    },
    () => providerNotFound(kind),
  );

  /** As the context sees them; from the system each as the context that it belongs to, which decides on its own first. */
  async function see(rows: ProviderRow<C>[], context: OwnerRef): Promise<SeenProvider<C>[]> {
    const isAbove = context.type === "system";
    const chosen = isAbove ? undefined : await inForce(context);
    const from = isAbove ? undefined : context;
    const seen = await reuse.see(logOf(context), rows.map(toReusable), from);
    return rows.map((row, at) => {
      const isActive = isAbove ? row.state === "active" : row.id === chosen?.id;
      const state = isActive ? "active" : "inactive";
      return { row, seen: { ...(seen[at] as SeenResource), state } };
    });
  }

  return {
    /** @throws NOT_FOUND where neither the instance of the call nor the system above it has the provider */
    async find({ instanceId, context }: Scope, id: string): Promise<ProviderRow<C>> {
      const own = context.type === "system" ? undefined : await byId(instanceId, id);
      const found = own ?? (isReusable(kind) ? await byId(systemLog, id) : undefined);
      if (found === undefined) throw providerNotFound(kind);
      return found as ProviderRow<C>;
    },

    /** The context that a call acts on a provider in. @throws NOT_FOUND where it does not have it */
    contextOf(scope: Scope, row: ProviderRow<C>): OwnerRef {
      const context = actingContext(scope, ownerOf(row));
      if (context === undefined) throw providerNotFound(kind);
      return context;
    },

    async see(row: ProviderRow<C>, context: OwnerRef): Promise<SeenProvider<C>> {
      const [seen] = await see([row], context);
      if (seen === undefined) throw new Error("each provider is seen");
      return seen;
    },

    async search(
      scope: Scope,
      request: Parameters<typeof search>[1],
    ): Promise<Found<SeenProvider<C>>> {
      const found = await search(scope, request);
      return { ...found, rows: await see(found.rows as ProviderRow<C>[], contextNamed(scope)) };
    },
  };
}

/** The context that is named for a new provider, or for a search. */
export function contextNamed({ context, instanceId }: Scope): OwnerRef {
  if (context.type === "organization") {
    throw contextInvalid(
      "an organization has none of these: leave out ctx and the header x-idsvc-orgid for those of the instance",
    );
  }
  return context.type === "system"
    ? { type: "system", id: "" }
    : { type: "instance", id: instanceId };
}

const toReusable = (row: ProviderRow<ProviderConfig>): Reusable => ({
  ...row,
  owner: ownerOf(row),
  statePolicy: row.statePolicy as StatePolicy,
});
