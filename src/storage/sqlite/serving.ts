import type Sqlite from "better-sqlite3";
import type { createCacheVersions } from "../cache-versions.ts";
import type { MigratableDatabase } from "../database.ts";
import { isProcessName, newProcessName } from "../process-name.ts";
import type { RowChange } from "../row-change.ts";
import type { Schema } from "../schema.ts";
import { createApplier, createBesideReader, markOthers } from "./apply.ts";
import { createRingReader } from "./commit-ring.ts";
import type { Compiler } from "./compile.ts";
import { writeByProcess } from "./remote-writer.ts";
import { writeByFlush, writeHere, writeInThread, type Writer } from "./writer.ts";

// A store is opened by the one process that serves it, by several that share it, or by a command beside them.

// A thread costs a tenth of what a small write costs; a flush that takes longer than this costs readers more.
const quickFlushMs = 3;

/** Told once, after the callers: nothing can be written any more until the store is opened by another process. */
export type OnBroken = (error: unknown) => void;

export type SharedStore = {
  /** Where the process listens that writes (shared-writer.ts). */
  socket: string;
  /** The name of this process. */
  processName: string;
  /** Of these processes those that have ended. */
  endedOf: (names: readonly string[]) => Promise<string[]>;
};

export type Options = {
  path: string;
  schema: Schema;
  onBroken?: OnBroken;
  /** No other process may have the file open, neither now nor until it is closed. */
  alone?: boolean;
  /** No other process may serve the store, but for those that share it. */
  serves?: boolean;
  /** It is served together with other processes, of which one more writes for all. */
  shared?: SharedStore;
  /** How long flushes may hold up who reads, on average; with 0 none does. */
  quickFlushMs?: number;
};

/** The name of this process, and who has ended: where it serves the store alone, all others. */
export function processes(
  shared: SharedStore | undefined,
): Pick<MigratableDatabase, "processName" | "endedOf"> {
  const processName = shared?.processName ?? newProcessName();
  const isOther = (name: string) => isProcessName(name) && name !== processName;
  return {
    processName,
    async endedOf(names) {
      const others = names.filter(isOther);
      return others.length === 0 || shared === undefined ? others : shared.endedOf(others);
    },
  };
}

/**
 * Who commits: a command does so itself, and the one process that serves as is quickest; of several one more does for all.
 * `apply` makes a change here in the transaction that is open.
 */
export function writerOf(
  { path, shared, serves = false, quickFlushMs: quickMs = quickFlushMs }: Options,
  {
    connection,
    compiler,
    giveUp,
  }: {
    connection: Sqlite.Database;
    compiler: Compiler;
    giveUp: (error: unknown) => void;
  },
) {
  const { texts } = compiler;
  const keep = serves ? undefined : () => markOthers(connection);
  const applier = createApplier(connection, texts, keep);
  const make = (): Writer => {
    if (shared !== undefined) {
      const { socket, processName: worker } = shared;
      return writeByProcess({ socket, worker }, texts, giveUp);
    }
    const here = writeHere(connection, applier);
    return serves ? writeByFlush(here, () => writeInThread(path, texts, giveUp), quickMs) : here;
  };
  return {
    writer: make(),
    apply: (change: RowChange, rename: (table: string) => string): void =>
      applier.run(compiler.change(change, rename)),
  };
}

/** Finds out what others have committed, once it is known that somebody has. */
function lookerOf(
  connection: Sqlite.Database,
  { shared, serves = false }: Options,
  by: {
    cacheVersions: ReturnType<typeof createCacheVersions>;
    tell: (instanceId: string) => void;
  },
): () => void {
  const { touchAll: all, ...touch } = by.cacheVersions;
  if (!serves) return all;
  const isBeside = createBesideReader(connection);
  const readRing =
    shared === undefined
      ? () => {}
      : createRingReader(connection, shared.processName, {
          all,
          parts: touch.touchParts,
          instance: touch.touchInstance,
          streams: touch.touchStreams,
          events: by.tell,
        });
  return () => {
    readRing();
    if (isBeside()) all();
  };
}

/**
 * Notices that another connection has committed to the same file, which shows in data_version.
 *
 * @param look finds out whether it was another process's, and what it has changed
 * @param explain maps an error of the engine to what the caller gets
 */
function otherConnections(
  connection: Sqlite.Database,
  look: () => void,
  explain: (error: unknown) => unknown,
) {
  const dataVersion = connection.prepare("PRAGMA data_version").pluck();
  let version = dataVersion.get();
  const noticeOthers = (): void => {
    const before = version;
    try {
      version = dataVersion.get();
      if (version !== before) look();
    } catch (error) {
      // So that the next call checks again.
      version = before;
      throw explain(error);
    }
  };
  // Asked once a turn of the event loop, however many ask in it: what a turn serves had arrived before.
  let isAsked = false;
  const noticeOnce = (): void => {
    if (isAsked) return;
    noticeOthers();
    isAsked = true;
    setImmediate(() => (isAsked = false));
  };
  return { noticeOthers, noticeOnce };
}

/** Notices what other processes commit to the file. */
export const noticeOthersBy = (
  connection: Sqlite.Database,
  options: Options,
  by: Parameters<typeof lookerOf>[2] & { explain: (error: unknown) => unknown },
) => otherConnections(connection, lookerOf(connection, options, by), by.explain);
