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
// A round ends at some time, so that a stop never waits long; the next one goes on.
const batchesARound = 50;

/** Sweeps again and again, so that what has expired does not grow for ever (C7), until disposed. */
export function startSweeper({ sweeps, onError, everyMs = usualEveryMs }: Parts): AsyncDisposable {
  let round: Promise<void> | undefined;
  let stopped = false;

  async function sweepAll(): Promise<void> {
    for (const sweep of sweeps) {
      for (let turn = 0; turn < batchesARound && !stopped; turn++) {
        if ((await sweep(batch)) < batch) break;
      }
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
