import { setTimeout as delay } from "node:timers/promises";

/** Takes a key as soon as those who asked before have released it: gives what releases it, or undefined where too many hold or wait. */
export type KeyedMutex = (key: string) => Promise<(() => void) | undefined>;

/**
 * One holder at a time for each key, in the order of asking; other keys are held beside it. Writers of one object that come at once
 * then wait for each other, instead of failing on each other again and again.
 *
 * @param limits.most of those who hold or wait for one key
 * @param limits.longestWaitMs after which whoever waits is given the key all the same, so that a holder can block nobody for good
 */
export function createKeyedMutex(
  limits: { most?: number; longestWaitMs?: number } = {},
): KeyedMutex {
  const { most = Infinity, longestWaitMs } = limits;
  const queues = new Map<string, { end: Promise<unknown>; size: number }>();
  return async (key) => {
    const queue = queues.get(key) ?? { end: Promise.resolve(), size: 0 };
    if (queue.size >= most) return undefined;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const before = queue.end;
    queue.end = Promise.all([before, released]).finally(() => {
      if (--queue.size === 0) queues.delete(key);
    });
    queues.set(key, queue);
    if (queue.size++ > 0)
      await (longestWaitMs === undefined ? before : within(longestWaitMs, before));
    return release;
  };
}

async function within(ms: number, awaited: Promise<unknown>): Promise<void> {
  const timeout = new AbortController();
  const timedOut = delay(ms, undefined, { signal: timeout.signal }).catch(() => undefined);
  await Promise.race([awaited, timedOut]);
  timeout.abort();
}
