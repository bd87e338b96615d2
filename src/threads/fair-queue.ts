/** What waits, from many sources: each source gets its turn, however much the others put in. */
export type FairQueue<T> = {
  readonly size: number;
  /** @returns what had to go for it: the item itself, or the last of the source that has most */
  add(source: string, item: T): T | undefined;
  /** Puts items back in front of all others of their source; there is always room for them. */
  putBack(source: string, items: readonly T[]): void;
  /** The next one: of the source whose turn it is, the one that came first. */
  take(): { source: string; item: T } | undefined;
  clear(): T[];
};

/**
 * A queue with room for `most`. Sources take turns, one item each. Where there is no room, whoever takes the most of it
 * makes some: a source with fewer items than another always gets in.
 */
export function createFairQueue<T>(most: number): FairQueue<T> {
  // In the order of their turns; a source without items is not here.
  const queues = new Map<string, T[]>();
  let size = 0;

  function makeRoom(source: string): { dropped: T | undefined } | undefined {
    let longest: T[] = [];
    for (const each of queues.values()) if (each.length > longest.length) longest = each;
    if (longest.length <= (queues.get(source)?.length ?? 0) + 1) return undefined;
    size -= 1;
    return { dropped: longest.pop() };
  }

  return {
    get size() {
      return size;
    },
    add(source, item) {
      const room = size < most ? { dropped: undefined } : makeRoom(source);
      if (room === undefined) return item;
      const own = queues.get(source);
      if (own === undefined) queues.set(source, [item]);
      else own.push(item);
      size += 1;
      return room.dropped;
    },
    putBack(source, items) {
      if (items.length === 0) return;
      queues.set(source, [...items, ...(queues.get(source) ?? [])]);
      size += items.length;
    },
    take() {
      for (const [source, own] of queues) {
        const item = own.shift();
        queues.delete(source);
        if (item === undefined) continue;
        if (own.length > 0) queues.set(source, own);
        size -= 1;
        return { source, item };
      }
      return undefined;
    },
    clear() {
      const all = [...queues.values()].flat();
      queues.clear();
      size = 0;
      return all;
    },
  };
}
