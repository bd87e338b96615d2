import type { Scope } from "../../authz/context.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import { rowById } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { type Found, isOneOf, search } from "../../projection/search.ts";
import { eq, inArray, ne, or, type SQL, sql } from "../../storage/drizzle.ts";
import { instances } from "../instance/index.ts";
import {
  actingContext,
  createReuse,
  type EffectiveState,
  type Reusable,
  type SeenResource,
  type StatePolicy,
} from "../reuse/index.ts";
import { inForceReader } from "./in-force.ts";
import type { ProviderSearch } from "./search.ts";
import { type ProviderConfig, providerNotFound } from "./kind.ts";
import { isReusable, logOf, logsOf, ownerOf, type ProviderStorage, systemLog } from "./storage.ts";
import type { ProviderRow } from "./projection.ts";

/** A provider, and how a context sees it. */
export type SeenProvider<C extends ProviderConfig> = { row: ProviderRow<C>; seen: SeenResource };

export function providerQueries<C extends ProviderConfig>(
  { db, limits }: Pick<Deps, "db" | "limits">,
  storage: ProviderStorage<C>,
) {
  const { kind, providers } = storage;
  const t = db.table(providers);
  const i = db.table(instances);
  const byId = rowById(db, providers);
  const reuse = createReuse(db, storage.policies);
  const inForce = inForceReader(db, storage);

  /** Those of the instances below the system as well, but for what deleted instances left behind. */
  const ofAllContexts = (): SQL | undefined =>
    or(eq(t.instanceId, systemLog), inArray(t.instanceId, db.read.select({ id: i.id }).from(i)));

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

    async search(context: OwnerRef, asked: ProviderSearch): Promise<Found<SeenProvider<C>>> {
      const isAbove = context.type === "system";
      const chosen = isAbove ? undefined : await inForce(context);
      const inState = (state: EffectiveState) => {
        if (isAbove) return eq(t.state, state);
        if (chosen === undefined) return state === "active" ? sql`1 = 0` : undefined;
        return state === "active" ? eq(t.id, chosen.id) : ne(t.id, chosen.id);
      };
      const found = await search(db, providers, {
        instanceId: logOf(context),
        everyInstance: true,
        filters: [
          isAbove ? ofAllContexts() : isOneOf(t.instanceId, logsOf(kind, context)),
          ...asked.filters(t),
          ...asked.states.map(inState),
        ],
        order: asked.order(t),
        page: asked.page,
        limits,
      });
      return { ...found, rows: await see(found.rows as ProviderRow<C>[], context) };
    },
  };
}

const toReusable = (row: ProviderRow<ProviderConfig>): Reusable => ({
  ...row,
  owner: ownerOf(row),
  statePolicy: row.statePolicy as StatePolicy,
});
