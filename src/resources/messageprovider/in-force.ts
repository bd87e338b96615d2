import { isOneOf } from "../../projection/rows.ts";
import type { OwnerRef } from "../../eventstore/event.ts";
import type { Database } from "../../storage/database.ts";
import { and, asc, eq } from "../../storage/drizzle.ts";
import type { StatePolicy } from "../object/reuse/state.ts";
import type { ProviderConfig } from "./kind.ts";
import { type ProviderStorage, isReusable, logOf, logsOf } from "./storage.ts";
import type { ProviderRow } from "./projection.ts";

/** Gives the provider that sends for a context, if there is one. */
export function inForceReader<C extends ProviderConfig>(
  db: Database,
  { kind, policies, providers }: ProviderStorage<C>,
): (context: OwnerRef) => Promise<ProviderRow<C> | undefined> {
  const t = db.table(providers);
  const p = db.table(policies.table);

  return async (context) => {
    const log = logOf(context);
    const [found, decisions] = await db.snapshot((read) => [
      read
        .select()
        .from(t)
        .where(isOneOf(t.instanceId, logsOf(kind, context)))
        .orderBy(asc(t.id)),
      ...(isReusable(kind)
        ? [
            read
              .select()
              .from(p)
              .where(and(eq(p.instanceId, log), eq(p.contextId, context.id))),
          ]
        : []),
    ]);
    // What stands in the table of a kind is of its kind.
    const rows = found as ProviderRow<C>[];
    return chooseInForce(
      rows.filter(({ instanceId }) => instanceId === log),
      rows.filter(({ instanceId }) => instanceId !== log),
      new Map(decisions?.map(({ resourceId, policy }) => [resourceId, policy as StatePolicy])),
    );
  };
}

/** A provider as the choice needs it. */
export type Candidate = { id: string; state: string };

/**
 * The one provider that sends for a context, of which at most one does: what the context itself decided on, its own or one
 * that it inherits and activated, goes before what is active above and on which it said nothing.
 *
 * @param decided what the context says of providers that it inherits, by their ids
 */
export function chooseInForce<R extends Candidate>(
  own: readonly R[],
  inherited: readonly R[],
  decided: ReadonlyMap<string, StatePolicy>,
): R | undefined {
  const policyOf = ({ id }: Candidate) => decided.get(id) ?? "inherit";
  return (
    own.find(({ state }) => state === "active") ??
    inherited.find((each) => policyOf(each) === "activate") ??
    inherited.find((each) => each.state === "active" && policyOf(each) === "inherit")
  );
}
