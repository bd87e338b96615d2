import type { Fault } from "./fault.ts";
import { killed } from "./f01-kill.ts";
import { databaseRestarted } from "./f08-database-restart.ts";

/** In the order in which they run. */
export const faults: readonly Fault[] = [killed, databaseRestarted];
