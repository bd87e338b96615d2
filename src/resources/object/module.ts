import type { Module } from "../../projection/module.ts";
import type { AnyResource } from "./resource.ts";

/** The module of a slice that declares resources: their events, projections and refusals come before its own. */
export function resourceModule(
  resources: readonly AnyResource[],
  own: Omit<Module, "resources" | "events" | "projections"> &
    Partial<Pick<Module, "events" | "projections">>,
): Module {
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
