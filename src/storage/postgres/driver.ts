import type pg from "pg";
import { createBatchMeter } from "../activity.ts";
import type { MigratableDatabase, Snapshots, StoreHealth } from "../database.ts";
import { sql } from "../drizzle.ts";
import type { Schema } from "../schema.ts";
import { isProcessName, newProcessName } from "../process-name.ts";
import { yielding } from "../yielding.ts";
import { createListeners } from "../listeners.ts";
import { createCacheVersions } from "../cache-versions.ts";
import { checkServer, createPool, risksOf } from "./connect.ts";
import { storeError } from "./errors.ts";
import { rewriteTables } from "./rewrite.ts";
import { formatOf, isNew, migrate } from "./migrate.ts";
import { createMonitor, type Monitor } from "./monitor.ts";
import { sweepBatches } from "./outcome.ts";
import { createProcesses } from "./processes.ts";
import { createReader, readSnapshot } from "./reader.ts";
import { createOvertaken, type Overtaken } from "./overtaken.ts";
import { createShadow, readHeads } from "./shadow.ts";
import { createWriter } from "./writer.ts";

/**
 * Connections of one process: reads and writes have their own, so that searches cannot starve writes. Many processes on one
 * machine take less each, since a server has a hundred unless it is told otherwise.
 */
const connectionsOf = (processes: number) => ({
  read: between(2, Math.ceil(16 / processes), 8),
  lengthy: processes > 4 ? 1 : 2,
  write: between(1, Math.ceil(8 / processes), 4),
});

const between = (least: number, value: number, most: number): number =>
  Math.min(Math.max(least, value), most);

/**
 * Opens a database of a PostgreSQL server, which several processes may share. Commits are flushed by the server
 * (`synchronous_commit`) before they are acknowledged.
 *
 * @throws FAILED_PRECONDITION when the server cannot keep our promises (connect.ts)
 */
export async function openPostgres(options: {
  url: string;
  schema: Schema;
  /** How many processes of this machine open it. */
  processes?: number;
}): Promise<MigratableDatabase> {
  const { url, schema, processes: together = 1 } = options;
  const connections = connectionsOf(together);
  await checkServer(url);
  const reading = createPool(url, "read", connections.read, true);
  // What takes long waits for its like, and never keeps a connection from what is quick.
  const lengthy = createPool(url, "lengthy", connections.lengthy, true);
  const writing = createPool(url, "write", connections.write);
  const overtaken = createOvertaken(schema, reading);
  const lengthySnapshots = yielding(snapshotsBy(lengthy, overtaken));
  const cacheVersions = createCacheVersions();
  const listeners = createListeners();
  const processName = newProcessName();
  const processes = createProcesses(processName, reading);
  let monitor: Monitor | undefined;
  let closed: Promise<void> | undefined;

  const meter = createBatchMeter();
  const writer = createWriter({
    pool: writing,
    connections: connections.write,
    onCommitted(unit, firstSequence) {
      cacheVersions.touch(unit);
      listeners.committed(unit, firstSequence);
    },
    onBatch: meter.note,
    onCounted: (instanceId, before, ours) => monitor?.counted(instanceId, before, ours),
    overtaken,
  });
  const sweeper = sweepBatches(writing);

  async function close(): Promise<void> {
    await writer[Symbol.asyncDispose]();
    sweeper[Symbol.dispose]();
    await monitor?.[Symbol.asyncDispose]();
    await Promise.all([reading.end(), lengthy.end(), writing.end()]);
  }

  return {
    ...dialect,
    read: createReader(reading, overtaken),
    ...snapshotsBy(reading, overtaken),
    activity: () => ({
      ...meter.read(),
      ...activityOf({ read: reading, lengthy, write: writing }),
    }),
    lengthy: () => lengthySnapshots,
    commit: (unit) => writer.commit(unit),
    // What other replicas have committed is known for a moment only; without it nothing cached is trusted (B7).
    cacheVersion: (instanceId, dependencies) =>
      monitor?.isFresh() === true && !overtaken.isOvertaken()
        ? cacheVersions.read(instanceId, dependencies)
        : Number.NaN,
    streamVersion: () => Number.NaN,
    async catchUp() {
      await monitor?.catchUp();
      overtaken.requireCurrent();
    },
    onCommit: listeners.onCommit,
    onInsert: listeners.onInsert,
    processName,
    endedOf: (names) => asked(() => processes.goneOf(names.filter(isProcessName))),
    health: () => asked(() => healthOf(reading)),
    // The server checks what it reads by itself.
    inspect: async () => {},
    isNew: () => asked(() => isNew(reading)),
    async migrate() {
      const stale = await migrate(url, schema);
      await asked(() => overtaken.look(reading));
      const { announce } = processes;
      const { tell: onForeign } = listeners;
      monitor ??= createMonitor({ url, cacheVersions, announce, onForeign, look: overtaken.look });
      await monitor.catchUp();
      return stale;
    },
    onOvertaken: overtaken.onOvertaken,
    heads: () => asked(() => readHeads(reading)),
    rewrite: () => rewriteTables(url, schema),
    shadow: (tables) => createShadow(url, tables),
    [Symbol.asyncDispose]: () => (closed ??= close()),
  };
}

const dialect: Pick<MigratableDatabase, "table" | "contains" | "hasMember" | "isAmong"> = {
  table: (table) => table.postgres,
  contains: (column, text) => sql`strpos(${column}, ${text}) > 0`,
  hasMember: (column, text) => sql`jsonb_exists(${column}, ${text})`,
  isAmong: (column, texts) => sql`${column} = any(${sql.param(texts)}::text[])`,
};

const snapshotsBy = (pool: pg.Pool, overtaken: Overtaken): Snapshots => ({
  snapshot: async (build) => (await readSnapshot(pool, build, overtaken)) as never,
});

const activityOf = ({
  lengthy,
  ...others
}: {
  lengthy: pg.Pool;
  read: pg.Pool;
  write: pg.Pool;
}) => ({
  waitingReads: lengthy.waitingCount,
  connections: Object.entries({ read: others.read, lengthy, write: others.write }).map(
    ([role, { totalCount, idleCount, waitingCount }]) => ({
      role,
      open: totalCount,
      idle: idleCount,
      waiting: waitingCount,
    }),
  ),
});

async function healthOf(reading: pg.Pool): Promise<StoreHealth> {
  const { rows } = await reading.query<{ server_version: string }>("SHOW server_version");
  const version = rows[0]?.server_version ?? "";
  const [format, risks] = [await formatOf(reading), await risksOf(reading)];
  return { engine: "postgres", version, format, sound: true, risks };
}

async function asked<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw storeError(error);
  }
}
