import type { Fault } from "./fault.ts";
import { killed } from "./f01-kill.ts";
import { tornWal } from "./f02-torn-wal.ts";
import { unflushedLost } from "./f02-unflushed.ts";
import { diskFull } from "./f03-disk-full.ts";
import { readOnly } from "./f04-read-only.ts";
import { callsFail } from "./f05-failing-calls.ts";
import { lockContention } from "./f06-lock-contention.ts";
import { wrongFiles } from "./f07-wrong-files.ts";
import { databaseRestarted } from "./f08-database-restart.ts";
import { failedOver } from "./f09-fail-over.ts";
import { answerLost } from "./f10-lost-answer.ts";
import { readerRace } from "./f11-reader-race.ts";
import { uniqueRace } from "./f12-unique-race.ts";
import { sameAggregate } from "./f13-same-aggregate.ts";
import { rebuildKilled } from "./f14-rebuild.ts";
import { writeThenSearch } from "./f15-write-then-search.ts";
import { clockJumps } from "./f20-clock-jumps.ts";
import { gracefulStop } from "./f23-graceful-stop.ts";
import { migrationKilled } from "./f24-migration.ts";
import { databaseStuck } from "./f25-stuck-database.ts";
import { outOfDescriptors } from "./f26-out-of-descriptors.ts";
import { backedUp } from "./f27-backup.ts";
import { staleCaches } from "./f28-stale-caches.ts";
import { importKilled } from "./f29-import.ts";
import { revokeFails } from "./f30-failing-revoke.ts";

/** In the order in which they run. */
export const faults: readonly Fault[] = [
  killed,
  tornWal,
  unflushedLost,
  diskFull,
  readOnly,
  callsFail,
  lockContention,
  wrongFiles,
  databaseRestarted,
  failedOver,
  answerLost,
  readerRace,
  uniqueRace,
  sameAggregate,
  rebuildKilled,
  writeThenSearch,
  clockJumps,
  gracefulStop,
  migrationKilled,
  databaseStuck,
  outOfDescriptors,
  backedUp,
  staleCaches,
  importKilled,
  revokeFails,
];
