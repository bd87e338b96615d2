import { statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { whenKnown } from "../../awaitable.ts";
import { DomainError } from "../../errors.ts";
import { createBatchMeter } from "../activity.ts";
import { storeClosed } from "../refusals.ts";
import type { MigratableDatabase, StoreHealth } from "../database.ts";
import { sql } from "../drizzle.ts";
import { yielding } from "../yielding.ts";
import { createListeners } from "../listeners.ts";
import { createCacheVersions } from "../cache-versions.ts";
import type { Outcome } from "./apply.ts";
import { createCompiler } from "./compile.ts";
import { isBusy, isDamage, isUnflushed } from "./errors.ts";
import {
  busyGiveUpMs,
  busyRetryMs,
  groupCommits,
  storeError,
  cannotWrite,
} from "./group-commit.ts";
import { readInThreads } from "./lengthy.ts";
import { readerOf, snapshotsHere } from "./reader.ts";
import { isNew, migrate } from "./migrate.ts";
import { diskTrouble, open } from "./open.ts";
import { takeServingLock } from "./serving-lock.ts";
import { createShadow, readHeads } from "./shadow.ts";
import { damagedAt, damagedMeanwhile, lookThrough, suspect } from "./soundness.ts";
import { noticeOthersBy, type Options, processes, writerOf } from "./serving.ts";
import type { Writer } from "./writer.ts";

const otherProcessPollMs = 250;
const emptyLogEveryMs = 3_600_000;

/**
 * Opens the embedded database (WAL); every commit is flushed (`synchronous=FULL`). Units that arrive together share a
 * transaction and its flush (group-commit.ts).
 *
 * One connection reads, synchronously, and writes where that holds up nobody for long; else a thread writes by its own (writer.ts).
 */
export function openSqlite(options: Options): MigratableDatabase {
  using undone = new DisposableStack();
  const { shared, serves = false } = options;
  const lock =
    serves && shared === undefined ? undone.use(takeServingLock(options.path)) : undefined;
  const connection = open(options.path, options.alone === true);
  const breakage = breakageOf(options, connection);
  const { isBroken, giveUp, noticeDamage, explain } = breakage;
  const reader = readerOf(connection, explain);
  const compiler = createCompiler();
  const { writer, apply } = writerOf(options, { connection, compiler, giveUp });
  const [cacheVersions, listeners] = [createCacheVersions(), createListeners()];
  const ending = new AbortController();
  let closed = false;

  const { noticeOthers, noticeOnce } = noticeOthersBy(connection, options, {
    cacheVersions,
    tell: listeners.tell,
    explain,
  });
  const watch = setInterval(() => ignoringRefusals(noticeOthers), otherProcessPollMs).unref();

  // What was deleted stands in the write-ahead log until it is written over, which in a quiet service takes long. Another
  // process that reads lets it be; the next time will do.
  const emptyLog = () => emptyLogOf(writer, { isBroken, unflushed: giveUp, damaged: noticeDamage });
  const sweep = setInterval(() => void (isBroken() || emptyLog()), emptyLogEveryMs).unref();

  // A command is alone with what it asks.
  const threads = serves ? readInThreads(options.path, explain) : undefined;

  const meter = createBatchMeter();
  const writes = groupCommits({
    write: (units, of) => whenKnown(writer.commit(units, of), noted(meter)),
    explain,
    giveUp,
    gathers: shared !== undefined,
    committed(unit, firstSequence) {
      cacheVersions.touch(unit);
      listeners.committed(unit, firstSequence);
    },
  });
  breakage.onGivenUp((error) => writes.rejectAll(cannotWrite(error)));

  const snapshots = snapshotsHere(connection, reader, explain);
  undone.move();

  return {
    ...dialect,
    read: reader,
    ...snapshots,
    activity: () => ({
      ...meter.read(),
      waitingReads: threads?.waiting() ?? 0,
      connections: [],
      logBytes: statSync(`${options.path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    }),
    lengthy: (source) => (threads === undefined ? snapshots : yielding(threads.of(source))),
    beforeChange: writes.beforeChange,
    async commit(unit) {
      if (closed || isBroken()) throw isBroken() ? cannotWrite() : storeClosed();
      return writes.commit(unit, compiler.unit(unit));
    },
    cacheVersion: cacheVersions.read,
    streamVersion(aggregateId) {
      noticeOnce();
      return cacheVersions.readStream(aggregateId);
    },
    catchUp: noticeOnce,
    onCommit: listeners.onCommit,
    onInsert: listeners.onInsert,
    ...processes(shared),
    ...upkeep({ connection, options, breakage, apply, emptyLog, signal: ending.signal }),
    async [Symbol.asyncDispose]() {
      if (closed) return;
      closed = true;
      await threads?.[Symbol.asyncDispose]();
      if (!isBroken()) await writes.drain();
      ending.abort();
      writes.rejectAll(storeClosed());
      clearInterval(watch);
      clearInterval(sweep);
      // Also closing would fold the WAL into the file: a broken store is left as it is to the next start.
      if (isBroken()) return;
      await emptyLog();
      await writer.close();
      connection.close();
      lock?.[Symbol.dispose]();
    },
  };
}

/** Runs work that a timer repeats: where the store is locked or its disk fails, the next run tries again. */
function ignoringRefusals(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
  }
}

type ApplyShadow = Parameters<typeof createShadow>[1];
type Breakage = ReturnType<typeof breakageOf>;

/** Whether the store may still be written, and what is told of what went wrong with it. */
function breakageOf({ path, onBroken }: Options, connection: Sqlite.Database) {
  let broken = false;
  const listeners: ((error: unknown) => void)[] = [];

  /**
   * The batch stands in the WAL and was not flushed: a start after a crash may find it whole or not at all. Nothing is
   * flushed again as if all were well (F05); only a new process can read what is there.
   */
  function giveUp(error: unknown): void {
    if (broken) return;
    broken = true;
    for (const listen of listeners) listen(error);
    onBroken?.(error);
  }

  /** A store that can be read in parts is not served (F07). */
  function noticeDamage(error: unknown): unknown {
    if (!isDamage(error)) return error;
    const failure = damagedAt(path, error);
    suspect(path);
    giveUp(failure);
    return damagedMeanwhile(failure);
  }

  const run = telling(path, noticeDamage);

  return {
    isBroken: () => broken,
    giveUp,
    noticeDamage,
    onGivenUp: (listener: (error: unknown) => void) => void listeners.push(listener),
    explain: (error: unknown): unknown =>
      connection.open ? storeError(noticeDamage(error)) : storeClosed(),
    opening<T>(work: () => T): T {
      if (!connection.open) throw storeClosed();
      return run(work);
    },
  };
}

/** What a start and the commands ask of the file. */
function upkeep(of: {
  connection: Sqlite.Database;
  options: Options;
  breakage: Breakage;
  apply: ApplyShadow;
  emptyLog: () => Promise<void>;
  signal: AbortSignal;
}): Pick<
  MigratableDatabase,
  "health" | "inspect" | "isNew" | "migrate" | "onOvertaken" | "heads" | "rewrite" | "shadow"
> {
  const { connection, options, signal } = of;
  const { opening, giveUp } = of.breakage;
  return {
    health: async (thorough = false) => opening(() => healthOf(connection, thorough)),
    inspect: () => inspected(connection, options.path, { giveUp, signal }),
    isNew: async () => opening(() => isNew(connection)),
    migrate: async () => opening(() => migrate(connection, options.schema)),
    onOvertaken: () => {},
    heads: async () => opening(() => readHeads(connection)),
    async rewrite() {
      await vacuum(connection);
      await of.emptyLog();
    },
    shadow: async (tables) => createShadow(connection, of.apply, tables),
  };
}

const noted =
  (meter: ReturnType<typeof createBatchMeter>) =>
  (outcome: Outcome): Outcome => {
    if (outcome.kind === "committed") meter.note(outcome.results.length, outcome.tookMs);
    return outcome;
  };

const dialect: Pick<MigratableDatabase, "table" | "contains" | "hasMember" | "isAmong"> = {
  table: (table) => table.sqlite,
  contains: (column, text) => sql`instr(${column}, ${text}) > 0`,
  hasMember: (column, text) =>
    sql`exists (select 1 from json_each(${column}) where value = ${text})`,
  isAmong: (column, texts) =>
    sql`${column} in (select value from json_each(${JSON.stringify(texts)}))`,
};

function healthOf(connection: Sqlite.Database, thorough: boolean): StoreHealth {
  const ask = (pragma: string): unknown => connection.pragma(pragma, { simple: true });
  const version = String(connection.prepare("SELECT sqlite_version()").pluck().get());
  const sound = !thorough || ask("integrity_check") === "ok";
  return { engine: "sqlite", version, format: Number(ask("user_version")), sound, risks: [] };
}

/** Looks through the file: damage that is found before the first look is over is thrown, what is found later ends the service. */
async function inspected(
  connection: Sqlite.Database,
  path: string,
  { giveUp, signal }: { giveUp: (error: unknown) => void; signal: AbortSignal },
): Promise<void> {
  let isStarting = true;
  const found = (what: string) => {
    const failure = damagedAt(path, new Error(what));
    suspect(path);
    if (isStarting) throw failure;
    giveUp(failure);
  };
  await lookThrough(connection, path, { found, signal });
  isStarting = false;
}

/** Takes the pages of the write-ahead log into the file, and empties it. */
async function emptyLogOf(
  writer: Pick<Writer, "emptyLog">,
  on: {
    isBroken: () => boolean;
    unflushed: (error: unknown) => void;
    damaged: (error: unknown) => void;
  },
): Promise<void> {
  const outcome = await writer.emptyLog();
  if (outcome.kind !== "failed" || on.isBroken()) return;
  const { error } = outcome;
  if (isUnflushed(error)) return on.unflushed(error);
  if (isDamage(error)) return on.damaged(error);
  // Nothing is lost: what the log holds stays in it, and whoever writes hears of the disk.
  if (!(error instanceof Sqlite.SqliteError)) throw error;
}

/** What a start or a command does with the file: whoever runs it is told what is wrong with the file or its disk. */
function telling(path: string, noticeDamage: (error: unknown) => unknown) {
  return <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!isDamage(error)) throw diskTrouble(path, error) ?? error;
      noticeDamage(error);
      throw damagedAt(path, error);
    }
  };
}

async function vacuum(connection: Sqlite.Database): Promise<void> {
  // In memory the copy would be as large as the store.
  connection.pragma("temp_store = FILE", { simple: true });
  for (const start = Date.now(); ; await delay(busyRetryMs)) {
    try {
      connection.exec("VACUUM");
      break;
    } catch (error) {
      if (!isBusy(error) || Date.now() - start > busyGiveUpMs) throw storeError(error);
    }
  }
  connection.pragma("temp_store = MEMORY", { simple: true });
}
