import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { Database } from "../../storage/database.ts";

// Commits wake followers; polling is the truth, for other processes.
const pollMs = 1_000;
// Commits that follow each other closely are read together.
const pauseMs = 20;
// So many followers are woken in one turn of the event loop: about two milliseconds of it.
const wokenAtOnce = 32;

export type Pulse = Disposable & {
  /** Grows with every commit in the log, and every second. */
  beat(): number;
  /** Resolves soon after the first beat behind the one that was seen. */
  heard(seen: number): Promise<void>;
};

/**
 * Tells all who follow one log of its commits, by one timer and one listener for all. Many are woken in parts, each in a turn of
 * the event loop of its own, so that other calls come between them.
 */
export function createPulse(db: Pick<Database, "onCommit">, log: string): Pulse {
  let beats = 0;
  let isDue = false;
  let isRunning = false;
  let waiting: (() => void)[] = [];

  async function run(): Promise<void> {
    isRunning = true;
    while (isDue) {
      await delay(pauseMs, undefined, { ref: false });
      isDue = false;
      const woken = waiting;
      waiting = [];
      for (let from = 0; from < woken.length; from += wokenAtOnce) {
        for (const wake of woken.slice(from, from + wokenAtOnce)) wake();
        await nextTurn();
      }
    }
    isRunning = false;
  }

  function wakeSoon(): void {
    isDue = true;
    if (!isRunning) void run();
  }

  function tick(): void {
    beats += 1;
    wakeSoon();
  }

  const forget = db.onCommit((changed) => {
    if (changed === log) tick();
  });
  const timer = setInterval(tick, pollMs).unref();
  return {
    beat: () => beats,
    heard(seen) {
      return new Promise((resolve) => {
        waiting.push(resolve);
        if (beats !== seen) wakeSoon();
      });
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      forget();
    },
  };
}
