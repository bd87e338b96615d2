import { setTimeout as delay } from "node:timers/promises";

const longestWaitMs = 5_000;

/**
 * A keyed mutex: one holder at a time for each key, in the order of asking. Who asks waits until those before have released
 * the key, five seconds at most: after that it is given all the same, so that a holder can block nobody for good.
 *
 * @returns takes a key, and gives what releases it
 */
export function createKeyedMutex(): (key: string) => Promise<() => void> {
  const ends = new Map<string, Promise<unknown>>();
  return async (key) => {
    const before = ends.get(key);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const end = Promise.all([before, released]).finally(() => {
      if (ends.get(key) === end) ends.delete(key);
    });
    ends.set(key, end);
    if (before !== undefined) {
      const timeout = new AbortController();
      const timedOut = delay(longestWaitMs, undefined, { signal: timeout.signal }).catch(() => {});
      await Promise.race([before, timedOut]);
      timeout.abort();
    }
    return release;
  };
}
