import { sweepExpiredRows } from "../jobs/expired-rows.ts";
import type { Module } from "../projection/module.ts";
import { loginFlows, messagePaces, userAgents } from "./tables.ts";

/** The login: what people see of the service (specification 4.3.1). */
export const loginModule: Module = {
  events: [],
  projections: [],
  state: [userAgents, loginFlows, messagePaces],
  sweeps: (deps) =>
    [userAgents, loginFlows, messagePaces].map((rows) => sweepExpiredRows(deps, rows)),
};
