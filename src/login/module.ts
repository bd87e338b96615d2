import { sweepExpiredRows } from "../jobs/expired-rows.ts";
import type { Module } from "../projection/module.ts";
import { consentEvents, consentProjection } from "./consents.ts";
import { loginFlows, userAgents } from "./tables.ts";

/** The login: what people see of the service (service.md 4.3.1; oidc.md, Login). */
export const loginModule: Module = {
  events: [consentEvents],
  projections: [consentProjection],
  state: [userAgents, loginFlows],
  sweeps: (deps) => [userAgents, loginFlows].map((rows) => sweepExpiredRows(deps, rows)),
};
