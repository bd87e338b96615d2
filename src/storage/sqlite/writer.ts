import { extname } from "node:path";
import { SHARE_ENV, Worker } from "node:worker_threads";
import type Sqlite from "better-sqlite3";
import type { Awaitable } from "../../awaitable.ts";
import type { Unit } from "../database.ts";
import type { Applier, Outcome } from "./apply.ts";
import type { CompiledUnit } from "./compile.ts";
import { received, type SentError } from "./errors.ts";
import { encodeUnits } from "./units.ts";
import { ready, type ToWriter, withErrors } from "./writer-messages.ts";

const script = new URL(`./writer-thread${extname(import.meta.url)}`, import.meta.url);

/** Who commits batches of units, one after the other. */
export type Writer = {
  /** @param of what they were made of */
  commit(units: readonly CompiledUnit[], of: readonly Unit[]): Awaitable<Outcome>;
  /** What the write-ahead log holds goes into the file. */
  emptyLog(): Awaitable<Outcome>;
  close(): Awaitable<void>;
};

const nothing: Outcome = { kind: "committed", results: [], tookMs: 0, flushMs: 0 };

/** Writes by this thread, with the connection that reads. */
export function writeHere(connection: Sqlite.Database, applier: Applier) {
  return {
    commit: applier.commit,
    emptyLog(): Outcome {
      try {
        connection.pragma("wal_checkpoint(TRUNCATE)", { simple: true });
        return nothing;
      } catch (error) {
        return { kind: "failed", error };
      }
    },
    close: () => {},
  } satisfies Writer;
}

/**
 * Writes by a thread of its own, so that a flush of the disk holds up nobody but those who wait for it.
 *
 * @param texts the text of each statement, at its number; it only grows
 * @param lost called when the thread has ended though nobody closed it; not where it could not even start, with nothing to do
 */
export function writeInThread(
  path: string,
  texts: readonly string[],
  lost: (error: unknown) => void,
) {
  // It has the environment of this thread, so that what watches a process (a preloaded module) can watch it too.
  const worker = new Worker(script, { workerData: { path }, env: SHARE_ENV });
  worker.unref();
  const waiting: ((outcome: Outcome) => void)[] = [];
  let sent = 0;
  let isReady = false;
  let ended: Error | undefined;
  let isClosing = false;

  function answered(outcome: Outcome): void {
    const resolve = waiting.shift();
    if (waiting.length === 0) worker.unref();
    resolve?.(outcome);
  }
  worker.on("message", (outcome: Outcome | typeof ready) => {
    if (outcome === ready) isReady = true;
    else answered(withErrors(outcome, (error) => received(error as SentError)));
  });
  // What was under way may be on disk or not.
  const end = (error: Error): void => {
    ended ??= error;
    const isLost = !isClosing && (isReady || waiting.length > 0);
    while (waiting.length > 0) answered({ kind: "unknown", error });
    if (isLost) lost(error);
  };
  worker.on("error", (error) => end(error instanceof Error ? error : new Error(String(error))));
  worker.on("exit", (code) => end(new Error(`the thread that writes ended with ${code}`)));

  const ask = (message: ToWriter): Promise<Outcome> =>
    new Promise((resolve) => {
      if (ended !== undefined) return resolve({ kind: "failed", error: ended });
      if (waiting.push(resolve) === 1) worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window: it has no origin.
      worker.postMessage(message);
    });

  return {
    /** It has been started: a batch need not wait for that. */
    isReady: () => isReady,
    commit(units: readonly CompiledUnit[]) {
      const { text, parts } = encodeUnits({ texts: texts.slice(sent), units });
      sent = texts.length;
      return ask({ kind: "commit", text, bytes: Buffer.concat(parts) });
    },
    emptyLog: () => ask({ kind: "emptyLog" }),
    async close() {
      isClosing = true;
      await ask({ kind: "close" });
      await worker.terminate();
    },
  };
}

// So many statements of a batch take this thread for some 10 ms.
const manySteps = 2_000;
// A unit of so many is one of many, as those of imports: what follows is decided while it is written.
const manyStepsOfOne = 400;
// So many flushes tell whether they are slow.
const lastFlushes = 8;

/**
 * Writes by this thread while flushes are quick, which costs least and keeps what was written in the cache of the connection that
 * reads; else by a thread, so that the disk holds up nobody but those who wait for it. What takes long without the disk is
 * the thread's as well.
 *
 * @param quickMs how long half of the last flushes may take for this thread to write; it does so again when they take half as long
 */
export function writeByFlush(
  here: ReturnType<typeof writeHere>,
  startThread: () => ReturnType<typeof writeInThread>,
  quickMs: number,
): Writer {
  let thread: ReturnType<typeof writeInThread> | undefined;
  const flushes: number[] = Array.from({ length: lastFlushes }, () => 0);
  let flushed = 0;
  let isSlow = quickMs === 0;
  function look(outcome: Outcome): Outcome {
    if (outcome.kind !== "committed") return outcome;
    flushes[flushed++ % lastFlushes] = outcome.flushMs;
    // Not their average: on a busy machine a few take long that wait for a core and not for the disk.
    const median = flushes.toSorted((a, b) => a - b)[lastFlushes / 2] ?? 0;
    isSlow = quickMs === 0 || median > (isSlow ? quickMs / 2 : quickMs);
    return outcome;
  }
  return {
    commit(units) {
      if (!isSlow && !isLarge(units)) return look(here.commit(units));
      thread ??= startThread();
      // Nobody waits for its start, but where nothing may be held up.
      if (!thread.isReady() && quickMs > 0) return look(here.commit(units));
      return thread.commit(units).then(look);
    },
    emptyLog: () => (thread?.isReady() === true ? thread : here).emptyLog(),
    close: () => thread?.close(),
  };
}

function isLarge(units: readonly CompiledUnit[]): boolean {
  let steps = 0;
  for (const each of units) {
    if (each.steps.length > manyStepsOfOne) return true;
    steps += each.steps.length;
  }
  return steps > manySteps;
}
