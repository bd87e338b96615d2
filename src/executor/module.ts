import type { Module } from "../projection/module.ts";
import { sweepCrowded, sweepDeliveries } from "./delivery/sweep.ts";
import { deliveries } from "./delivery/table.ts";

/** What the executor keeps. Its services and jobs need the way out, which only a running service has. */
export const executorModule: Module = {
  events: [],
  projections: [],
  state: [deliveries],
  sweeps: (deps) => [sweepCrowded(deps), sweepDeliveries(deps)],
};
