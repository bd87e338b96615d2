/**
 * Does work under one key after the other, in the order of the calls; work under other keys goes on beside it. Writers of
 * one object that come at once then wait for each other, instead of failing on each other again and again.
 * @returns undefined, without doing it, where too many wait already
 */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T | undefined>;

export function createKeyedMutex(mostWaiting: number): KeyedMutex {
  const queues = new Map<string, { last: Promise<unknown>; waiting: number }>();

  return async (key, work) => {
    const queue = queues.get(key) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= mostWaiting) return undefined;
    queues.set(key, queue);
    queue.waiting++;
    const own = queue.last.then(work);
    // What fails is its caller's to hear of, not the next one's.
    queue.last = own.catch(() => undefined);
    try {
      return await own;
    } finally {
      queue.waiting--;
      if (queue.waiting === 0) queues.delete(key);
    }
  };
}
