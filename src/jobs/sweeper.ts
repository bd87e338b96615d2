import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Removes some of what has expired, up to `limit` of it, and tells how much it found. It runs on every replica, and may
 * find nothing: what counts no more must not wait for it.
 */
export type Sweep = (limit: number) => Promise<number>;

type Parts = {
  sweeps: readonly Sweep[];
  onError: (error: unknown) => void;
  /** The time between two rounds. */
  everyMs?: number;
};

const usualEveryMs = 30_000;
const batch = 100;

/**
 * Sweeps again and again, so that what has expired does not grow for ever (C7), until disposed. A round ends when nothing
 * is left, however much there was. The sweeps alternate, a batch each, and yield to the event loop after each batch.
 */
export function startSweeper({ sweeps, onError, everyMs = usualEveryMs }: Parts): AsyncDisposable {
  let round: Promise<void> | undefined;
  let stopped = false;

  async function sweepAll(): Promise<void> {
    for (let left = sweeps; left.length > 0; ) {
      const notDone: Sweep[] = [];
      for (const sweep of left) {
        if (stopped) return;
        if ((await sweep(batch)) >= batch) notDone.push(sweep);
        await nextTurn();
      }
      left = notDone;
    }
  }

  const timer = setInterval(() => {
    round ??= sweepAll()
      .catch(onError)
      .finally(() => (round = undefined));
  }, everyMs).unref();

  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearInterval(timer);
      await round;
    },
  };
}
