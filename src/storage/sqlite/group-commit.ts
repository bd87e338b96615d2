import type { Awaitable } from "../../awaitable.ts";
import type { Committed, Unit } from "../database.ts";
import { storeBusy, storeOutcomeUnknown, storeUnavailable } from "../refusals.ts";
import type { Outcome } from "./apply.ts";
import { type CompiledUnit, refusalAt } from "./compile.ts";
import { isDisk } from "./errors.ts";

/** How often the lock of another process is tried, and for how long. */
export const busyRetryMs = 5;
export const busyGiveUpMs = 30_000;
const mostTogether = 256;
/** What a flush waits for more units: up to this many times as long as the last one took, within bounds. */
const worthWaiting = 5;
const longestWaitMs = { least: 5, most: 25 };

type Waiting = {
  unit: Unit;
  compiled: CompiledUnit;
  since: number;
  resolve: (committed: Committed) => void;
  reject: (error: unknown) => void;
};

export type GroupCommit = {
  /** Resolves when the unit is on disk. */
  commit(unit: Unit, compiled: CompiledUnit): Promise<Committed>;
  /** Commits what waits; resolves when nothing is under way any more. */
  drain(): Promise<void>;
  rejectAll(error: unknown): void;
};

type Committing = {
  /** Commits a batch; while it does, no other is given to it. */
  write: (units: readonly CompiledUnit[], of: readonly Unit[]) => Awaitable<Outcome>;
  /** What a caller is told of an error. */
  explain: (error: unknown) => unknown;
  committed: (unit: Unit, firstSequence: bigint) => void;
  /** Whether a commit is on disk nobody knows: nothing may be written any more. */
  giveUp: (error: unknown) => void;
};

/**
 * Commits units that come together in one transaction, with one flush of the disk.
 *
 * A batch waits for as long as each turn of the event loop brings another unit, some milliseconds at most, more where
 * flushes take longer: the disk, and the pages that every commit writes, cost many units as much as one. A lone unit
 * waits for one empty turn.
 */
export function groupCommits(parts: Committing): GroupCommit {
  const { write, explain, committed, giveUp } = parts;
  let waiting: Waiting[] = [];
  let inLastTurn = 0;
  let scheduled = false;
  let waitMs = longestWaitMs.least;
  let atWork: Promise<void> | undefined;

  function schedule(delayMs = 0): void {
    if (scheduled || atWork !== undefined) return;
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
    if (batch.length === 0 || atWork !== undefined) return;
    waiting = [];
    const outcome = write(
      batch.map(({ compiled }) => compiled),
      batch.map(({ unit }) => unit),
    );
    if (outcome instanceof Promise) atWork = settleLater(batch, outcome);
    else settle(batch, outcome);
  }

  async function settleLater(batch: readonly Waiting[], outcome: Promise<Outcome>): Promise<void> {
    const known = await outcome;
    atWork = undefined;
    settle(batch, known);
  }

  function settle(batch: readonly Waiting[], outcome: Outcome): void {
    if (outcome.kind === "busy") return waitForOther(batch);
    if (outcome.kind === "committed") {
      const worth = worthWaiting * outcome.tookMs;
      waitMs = Math.min(Math.max(longestWaitMs.least, worth), longestWaitMs.most);
      batch.forEach((entry, index) =>
        settleOne(committed, entry, outcome.results[index] ?? { step: 0 }),
      );
    } else if (outcome.kind === "failed") {
      for (const { reject } of batch) reject(explain(outcome.error));
    } else {
      for (const { reject } of batch) reject(outcomeUnknown(outcome.error));
      return giveUp(outcome.error);
    }
    if (waiting.length > 0) schedule();
  }

  /** Another process's lock is waited for without blocking the event loop, until callers would give up. */
  function waitForOther(batch: readonly Waiting[]): void {
    waiting = [...refuseLate(batch), ...waiting];
    schedule(busyRetryMs);
  }

  return {
    commit: (unit, compiled) =>
      new Promise((resolve, reject) => {
        waiting.push({ unit, compiled, since: Date.now(), resolve, reject });
        schedule();
      }),
    async drain() {
      await atWork;
      flush();
      await atWork;
    },
    rejectAll(error) {
      for (const { reject } of waiting.splice(0)) reject(error);
    },
  };
}

/** Refuses those who have waited so long that their callers give up, and gives the others. */
const refuseLate = (batch: readonly Waiting[]): Waiting[] =>
  batch.filter(({ since, reject }) => {
    if (Date.now() - since < busyGiveUpMs) return true;
    reject(storeBusy("the store is locked by another process: try again"));
    return false;
  });

function settleOne(
  committed: Committing["committed"],
  { unit, resolve, reject }: Waiting,
  result: Result,
): void {
  if (typeof result !== "bigint") {
    const { step, error } = result;
    return reject(error === undefined ? refusalAt(unit, step) : storeError(error));
  }
  resolve({ firstSequence: result });
  committed(unit, result);
}

type Result = (Outcome & { kind: "committed" })["results"][number];

/** What a caller is told of an error of the store. */
export const storeError = (error: unknown): unknown => (isDisk(error) ? cannotWrite(error) : error);

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
