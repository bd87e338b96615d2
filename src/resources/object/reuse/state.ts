import type { OwnerRef } from "../../../eventstore/event.ts";

/** How a context decides on the state of a reusable resource; `inherit` decides nothing. */
export type StatePolicy = "activate" | "deactivate" | "inherit";

/** The state that counts, after all policies have been applied. */
export type EffectiveState = "active" | "inactive";

/** A context, and what it decides. */
export type Decided = { owner: OwnerRef; policy: StatePolicy };

/** A resource as a context sees it. `parent` is there where the context inherits it. */
export type Seen = {
  state: EffectiveState;
  statePolicy: StatePolicy;
  parent: { owner: OwnerRef; state: EffectiveState } | undefined;
};

/**
 * The effective state at the end of a way down the contexts, from the one that the resource belongs to: the last that
 * decides wins, and where none does the resource is active (E2).
 */
export const effectiveState = (policies: readonly StatePolicy[]): EffectiveState =>
  policies.findLast((policy) => policy !== "inherit") === "deactivate" ? "inactive" : "active";

/** How the last context of such a way sees the resource. */
export function seenAtEnd(way: readonly [Decided, ...Decided[]]): Seen {
  const policies = way.map(({ policy }) => policy);
  const above = way.at(-2);
  return {
    state: effectiveState(policies),
    statePolicy: policies.at(-1) ?? "inherit",
    parent: above && { owner: above.owner, state: effectiveState(policies.slice(0, -1)) },
  };
}
