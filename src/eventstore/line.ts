import { setTimeout as delay } from "node:timers/promises";

const longestWaitMs = 5_000;

/**
 * A line for each name: whoever enters waits until those before him have left, five seconds at most, so that a line can hold
 * nobody up for good.
 *
 * @returns enters the line of a name, and gives what leaves it
 */
export function createLines(): (name: string) => Promise<() => void> {
  const ends = new Map<string, Promise<unknown>>();
  return async (name) => {
    const before = ends.get(name);
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const end = Promise.all([before, left]).finally(() => {
      if (ends.get(name) === end) ends.delete(name);
    });
    ends.set(name, end);
    if (before !== undefined) {
      const patience = new AbortController();
      const tired = delay(longestWaitMs, undefined, { signal: patience.signal }).catch(() => {});
      await Promise.race([before, tired]);
      patience.abort();
    }
    return leave;
  };
}
