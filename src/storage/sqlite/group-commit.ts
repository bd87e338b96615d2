import Sqlite from "better-sqlite3";
import { ClaimTaken, type Committed, Conflict, type Unit } from "../database.ts";
import type { Writer } from "./append.ts";
import { isBusy } from "./open.ts";
import { isDamage } from "./soundness.ts";
import { storeBusy, storeUnavailable, storeOutcomeUnknown } from "../refusals.ts";

/** How often the lock of another process is tried, and for how long. */
export const busyRetryMs = 5;
export const busyGiveUpMs = 30_000;
const mostTogether = 256;
/** What a flush waits for more units: up to this many times as long as the last one took, within bounds. */
const worthWaiting = 5;
const longestWaitMs = { least: 5, most: 25 };

type Waiting = {
  unit: Unit;
  since: number;
  resolve: (committed: Committed) => void;
  reject: (error: unknown) => void;
};

export type GroupCommit = {
  /** Resolves when the unit is on disk. */
  commit(unit: Unit): Promise<Committed>;
  /** Commits what waits, now. */
  flush(): void;
  rejectAll(error: unknown): void;
};

/**
 * Commits units that come together in one transaction, with one flush of the disk.
 *
 * A flush waits for as long as each turn of the event loop brings another unit, some milliseconds at most, more where
 * flushes take longer: the disk, and the pages that every commit writes, cost many units as much as one. A lone unit
 * waits for one empty turn.
 */
export function groupCommits(parts: {
  connection: Sqlite.Database;
  writer: Writer;
  /** What a caller is told of an error. */
  explain: (error: unknown) => unknown;
  committed: (unit: Unit, firstSequence: bigint) => void;
  /** The disk failed while it kept a commit: nothing may be written any more. */
  giveUp: (error: unknown) => void;
}): GroupCommit {
  const { connection, writer, explain, committed, giveUp } = parts;
  const beginWrite = connection.prepare("BEGIN IMMEDIATE");
  const commit = connection.prepare("COMMIT");
  const rollback = connection.prepare("ROLLBACK");
  const savepoint = connection.prepare("SAVEPOINT unit");
  const release = connection.prepare("RELEASE unit");
  let waiting: Waiting[] = [];
  let inLastTurn = 0;
  let scheduled = false;
  let waitMs = longestWaitMs.least;

  function schedule(delayMs = 0): void {
    if (scheduled) return;
    scheduled = true;
    if (delayMs === 0) setImmediate(flushWhenQuiet);
    else setTimeout(flush, delayMs);
  }

  function flushWhenQuiet(): void {
    const [first] = waiting;
    const isGrowing = waiting.length > inLastTurn && waiting.length < mostTogether;
    if (first === undefined || !isGrowing || Date.now() - first.since >= waitMs) {
      return flush();
    }
    scheduled = false;
    inLastTurn = waiting.length;
    schedule();
  }

  function flush(): void {
    scheduled = false;
    inLastTurn = 0;
    const batch = waiting;
    waiting = [];
    if (batch.length === 0 || !begin(batch)) return;
    const began = performance.now();
    let done: (() => void)[] | undefined;
    try {
      done = applyTogether(batch) ?? (begin(batch) ? applyEach(batch) : undefined);
      if (done === undefined) return;
      commit.run();
      const worth = worthWaiting * (performance.now() - began);
      waitMs = Math.min(Math.max(longestWaitMs.least, worth), longestWaitMs.most);
    } catch (error) {
      if (connection.inTransaction) rollback.run();
      if (!isUnflushed(error)) return batch.forEach(({ reject }) => reject(explain(error)));
      for (const { reject } of batch) reject(outcomeUnknown(error));
      return giveUp(error);
    }
    for (const settle of done) settle();
  }

  /** Whether the lock is ours. Another process's is waited for without blocking the event loop, until callers would give up. */
  function begin(batch: Waiting[]): boolean {
    try {
      beginWrite.run();
      writer.begin();
      return true;
    } catch (error) {
      if (connection.inTransaction) rollback.run();
      if (!isBusy(error)) {
        for (const { reject } of batch) reject(explain(error));
        return false;
      }
    }
    const stillWaiting = batch.filter((entry) => {
      if (Date.now() - entry.since < busyGiveUpMs) return true;
      entry.reject(storeBusy("the store is locked by another process: try again"));
      return false;
    });
    waiting = [...stillWaiting, ...waiting];
    schedule(busyRetryMs);
    return false;
  }

  /** All units of a batch; if one of them fails, nothing is changed and nothing given. */
  function applyTogether(batch: readonly Waiting[]): (() => void)[] | undefined {
    try {
      const done = batch.map((entry) => settled(entry, writer.apply(entry.unit)));
      writer.end();
      return done;
    } catch (error) {
      if (!connection.inTransaction || isDamage(error)) throw error;
      rollback.run();
      return undefined;
    }
  }

  /** The units of a batch in which one fails, a savepoint each: that one is rolled back alone, and only its caller hears of it. */
  function applyEach(batch: readonly Waiting[]): (() => void)[] {
    const done = batch.map((entry) => {
      savepoint.run();
      try {
        const firstSequence = writer.apply(entry.unit);
        release.run();
        return settled(entry, firstSequence);
      } catch (error) {
        if (!connection.inTransaction || isDamage(error)) throw error;
        connection.exec("ROLLBACK TO unit; RELEASE unit");
        return () => entry.reject(storeError(error));
      }
    });
    writer.end();
    return done;
  }

  const settled =
    ({ unit, resolve }: Waiting, firstSequence: bigint) =>
    () => {
      resolve({ firstSequence });
      committed(unit, firstSequence);
    };

  return {
    commit: (unit) =>
      new Promise((resolve, reject) => {
        waiting.push({ unit, since: Date.now(), resolve, reject });
        schedule();
      }),
    flush,
    rejectAll(error) {
      for (const { reject } of waiting.splice(0)) reject(error);
    },
  };
}

/** What a caller is told of an error of the store. */
export function storeError(error: unknown): unknown {
  if (error instanceof Conflict || error instanceof ClaimTaken) return error;
  if (error instanceof Sqlite.SqliteError && /FULL|IOERR|READONLY|CANTOPEN/.test(error.code)) {
    return cannotWrite(error);
  }
  return error;
}

export const cannotWrite = (cause?: unknown) =>
  storeUnavailable("the store cannot write now: nothing was changed, try again", {
    cause,
    retryAfterSeconds: 5,
  });

const outcomeUnknown = (cause: unknown) =>
  storeOutcomeUnknown(
    "the disk failed while it kept the change: it was made whole or not at all, look before you try again",
    cause,
  );

export const isUnflushed = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && error.code === "SQLITE_IOERR_FSYNC";
