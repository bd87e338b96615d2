import { sweepExpiredRows } from "../jobs/expired-rows.ts";
import type { Module } from "../projection/module.ts";
import { consoleSessions } from "./tables.ts";

/** The console: it stores who is signed in to it. */
export const consoleModule: Module = {
  events: [],
  projections: [],
  state: [consoleSessions],
  sweeps: (deps) => [sweepExpiredRows(deps, consoleSessions)],
};
