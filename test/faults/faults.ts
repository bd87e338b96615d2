import type { Fault } from "./fault.ts";
import { killed } from "./f01-kill.ts";
import { tornWal } from "./f02-torn-wal.ts";
import { diskFull } from "./f03-disk-full.ts";
import { callsFail } from "./f05-failing-calls.ts";
import { databaseRestarted } from "./f08-database-restart.ts";
import { failedOver } from "./f09-fail-over.ts";
import { answerLost } from "./f10-lost-answer.ts";
import { readerRace } from "./f11-reader-race.ts";
import { uniqueRace } from "./f12-unique-race.ts";
import { sameAggregate } from "./f13-same-aggregate.ts";
import { gracefulStop } from "./f23-graceful-stop.ts";

/** In the order in which they run. */
export const faults: readonly Fault[] = [
  killed,
  tornWal,
  diskFull,
  callsFail,
  databaseRestarted,
  failedOver,
  answerLost,
  readerRace,
  uniqueRace,
  sameAggregate,
  gracefulStop,
];
