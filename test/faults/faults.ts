import type { Fault } from "./fault.ts";
import { killed } from "./f01-kill.ts";
import { databaseRestarted } from "./f08-database-restart.ts";
import { answerLost } from "./f10-lost-answer.ts";
import { readerRace } from "./f11-reader-race.ts";

/** In the order in which they run. */
export const faults: readonly Fault[] = [killed, databaseRestarted, readerRace, answerLost];
