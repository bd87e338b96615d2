import type { Awaitable } from "../../awaitable.ts";
import { createFairQueue, type FairQueue } from "../../threads/fair-queue.ts";
import type { Committed, Unit } from "../database.ts";
import { createGathering } from "../gathering.ts";
import { storeBusy, storeOutcomeUnknown, storeUnavailable } from "../refusals.ts";
import type { Outcome } from "./apply.ts";
import { type CompiledUnit, refusalAt } from "./compile.ts";
import { isBusy, isDisk } from "./errors.ts";
import { createSpread } from "./spread.ts";

/** How often the lock of another process is tried, and for how long. */
export const busyRetryMs = 5;
export const busyGiveUpMs = 30_000;
const mostTogether = 256;
/** Units in a batch at most: what comes while it is written waits no longer than for so many. */
const mostInBatch = 512;
/** Units that may wait, of all instances. */
const mostWaiting = 20_000;
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
  /** To be awaited before the work of a call that commits a unit: while a batch is flushed it waits for a little. */
  beforeChange(): Promise<void> | undefined;
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
  /** Whether another process writes: each batch costs it and this one much that does not depend on its size. */
  gathers: boolean;
};

/**
 * Commits units that come together in one transaction, with one flush of the disk.
 *
 * A batch waits for as long as each turn of the event loop brings another unit, some milliseconds at most, more where
 * flushes take longer: the disk, and the pages that every commit writes, cost many units as much as one. A lone unit
 * waits for one empty turn. Where another process writes (`gathers`), a batch that has much fewer units than the last one waits too.
 * Instances take turns in it; where too many units wait, those of the instance that has most are refused with UNAVAILABLE STORE_BUSY.
 */
export function groupCommits(parts: Committing): GroupCommit {
  const { write, explain, committed, giveUp, gathers } = parts;
  const waiting = createFairQueue<Waiting>(mostWaiting);
  // Since when somebody waits.
  let waitingSince = 0;
  let inLastTurn = 0;
  let scheduled = false;
  let waitMs = longestWaitMs.least;
  let atWork: Promise<void> | undefined;
  const [spread, gathering] = [createSpread(), gathers ? createGathering(flush) : undefined];

  function schedule(delayMs = 0): void {
    if (scheduled || atWork !== undefined) return;
    scheduled = true;
    if (delayMs === 0) setImmediate(flushWhenQuiet);
    else setTimeout(flush, delayMs);
  }

  function flushWhenQuiet(): void {
    scheduled = false;
    if (gathering?.waits(waiting.size, waitingSince) === true) return;
    const isGrowing = waiting.size > inLastTurn && waiting.size < mostTogether;
    if (!isGrowing || Date.now() - waitingSince >= waitMs) return flush();
    inLastTurn = waiting.size;
    schedule();
  }

  function flush(): void {
    scheduled = false;
    inLastTurn = 0;
    if (waiting.size === 0 || atWork !== undefined) return;
    const batch = nextBatch(waiting);
    gathering?.sent(batch.length);
    waitingSince = Date.now();
    const [compiled, units] = [batch.map((each) => each.compiled), batch.map((each) => each.unit)];
    const outcome = write(compiled, units);
    if (outcome instanceof Promise) atWork = settleLater(batch, outcome);
    else settle(batch, outcome);
  }

  async function settleLater(batch: readonly Waiting[], outcome: Promise<Outcome>): Promise<void> {
    const known = await spread.during(outcome);
    atWork = undefined;
    settle(batch, known);
  }

  function settle(batch: readonly Waiting[], outcome: Outcome): void {
    if (outcome.kind === "busy") return waitForOther(batch);
    if (outcome.kind === "committed") {
      waitMs = waitAfter(outcome.tookMs);
      batch.forEach((entry, index) =>
        settleOne(committed, entry, outcome.results[index] ?? { step: 0 }),
      );
    } else if (outcome.kind === "failed") {
      rejectEach(batch, () => explain(outcome.error));
    } else {
      rejectEach(batch, () => outcomeUnknown(outcome.error));
      return giveUp(outcome.error);
    }
    if (waiting.size > 0) schedule();
  }

  /** Another process's lock is waited for without blocking the event loop, until callers would give up. */
  function waitForOther(batch: readonly Waiting[]): void {
    putBack(waiting, refuseLate(batch));
    schedule(busyRetryMs);
  }

  return {
    beforeChange: spread.wait,
    commit: (unit, compiled) =>
      new Promise((resolve, reject) => {
        const since = Date.now();
        if (waiting.size === 0) waitingSince = since;
        const refused = waiting.add(unit.instanceId, { unit, compiled, since, resolve, reject });
        refused?.reject(storeBusy("too many changes wait to be written: try again"));
        schedule();
      }),
    async drain() {
      await atWork;
      // Behind the lock of another process nothing becomes fewer.
      for (let before = Infinity; waiting.size > 0 && waiting.size < before; ) {
        before = waiting.size;
        flush();
        await atWork;
      }
    },
    rejectAll: (error) => rejectEach(waiting.clear(), () => error),
  };
}

const waitAfter = (tookMs: number): number =>
  Math.min(Math.max(longestWaitMs.least, worthWaiting * tookMs), longestWaitMs.most);

function nextBatch(waiting: FairQueue<Waiting>): Waiting[] {
  const batch: Waiting[] = [];
  while (batch.length < mostInBatch) {
    const next = waiting.take();
    if (next === undefined) break;
    batch.push(next.item);
  }
  return batch;
}

function rejectEach(batch: readonly Waiting[], why: () => unknown): void {
  for (const { reject } of batch) reject(why());
}

function putBack(waiting: FairQueue<Waiting>, batch: readonly Waiting[]): void {
  const byInstance = Map.groupBy(batch, ({ unit }) => unit.instanceId);
  byInstance.forEach((entries, instanceId) => waiting.putBack(instanceId, entries));
}

/** Refuses those who have waited so long that their callers give up, and gives the others. */
const refuseLate = (batch: readonly Waiting[]): Waiting[] =>
  batch.filter(({ since, reject }) => {
    if (Date.now() - since < busyGiveUpMs) return true;
    reject(lockedByAnother());
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
export function storeError(error: unknown): unknown {
  if (isBusy(error)) return lockedByAnother(error);
  return isDisk(error) ? cannotWrite(error) : error;
}

const lockedByAnother = (cause?: unknown) =>
  storeBusy("the store is locked by another process: try again", { cause, retryAfterSeconds: 1 });

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
