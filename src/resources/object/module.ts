import type { Deps, Module } from "../../projection/module.ts";
import type { AnyResource } from "./resource.ts";

/** The module of a slice that declares resources: their events, projections and refusals come before its own. */
export function resourceModule<D extends Deps = Deps>(
  resources: readonly AnyResource[],
  own: Omit<Module<D>, "resources" | "events" | "projections"> &
    Partial<Pick<Module<D>, "events" | "projections">>,
): Module<D> {
  return {
    ...own,
    resources,
    events: [...resources.map(({ events }) => events), ...(own.events ?? [])],
    projections: [...resources.map(({ projection }) => projection), ...(own.projections ?? [])],
    claimErrors: Object.assign(
      {},
      ...resources.map(({ claimErrors }) => claimErrors),
      own.claimErrors,
    ),
  };
}
