import { getHeapStatistics } from "node:v8";
import type { Awaitable } from "../awaitable.ts";
import type { Database } from "./database.ts";
import type { Dependency } from "./cache-versions.ts";

const leastEntries = 1_000;
const partOfHeap = 1 / 64;
// A target with the message and one form of the answer that is made of it takes 2,470 (decision 0304).
const bytesAnEntry = 2_500;

/** How many entries a cache may hold where the heap may grow to so many bytes: a 64th of it, 1,000 entries at least. */
export const entriesIn = (heapBytes: number): number =>
  Math.max(leastEntries, Math.floor((heapBytes * partOfHeap) / bytesAnEntry));

const mostEntries = entriesIn(getHeapStatistics().heap_size_limit);

type Entry<V> = { version: number; value: V };

/**
 * A bounded cache of reads that is never older than the last commit of this process that touched their tables in the
 * instance, and than a second where another process wrote. A hit is answered without a promise.
 *
 * @param load reads by the key; what it needs beside the key comes as the third argument
 */
export function cachedRead<V, A = void>(
  db: Database,
  dependencies: readonly Dependency[],
  load: (instanceId: string, key: string, argument: A) => Promise<V>,
  capacity = mostEntries,
): (instanceId: string, key: string, argument: A) => Awaitable<V> {
  return createCache(db, dependencies, load, capacity).read;
}

/**
 * The same, but never older than the call, on whichever replica (see `current`). What is not held is read from the
 * database, which is as new: `load` must ask nothing that is cached.
 */
export function currentRead<V>(
  db: Database,
  dependencies: readonly Dependency[],
  load: (instanceId: string, key: string) => Promise<V>,
  capacity = mostEntries,
): (instanceId: string, key: string) => Awaitable<V> {
  const { read, holds } = createCache(db, dependencies, load, capacity);
  return (instanceId, key) => {
    const waiting = holds(instanceId, key) ? db.catchUp() : undefined;
    return waiting === undefined
      ? read(instanceId, key)
      : waiting.then(() => read(instanceId, key));
  };
}

function createCache<V, A = void>(
  db: Database,
  dependencies: readonly Dependency[],
  load: (instanceId: string, key: string, argument: A) => Promise<V>,
  capacity: number,
) {
  // By instance, then by key: a text put together of both would be made and hashed anew with each call.
  const instances = new Map<string, Map<string, Entry<V>>>();
  let size = 0;

  function keep(instanceId: string, key: string, entry: Entry<V>): void {
    if (!instances.get(instanceId)?.has(key)) {
      if (size >= capacity) dropOldest(instances.has(instanceId) ? instanceId : firstOf(instances));
      size += 1;
    }
    let entries = instances.get(instanceId);
    if (entries === undefined) instances.set(instanceId, (entries = new Map()));
    entries.set(key, entry);
  }

  function dropOldest(instanceId: string): void {
    const entries = instances.get(instanceId);
    if (entries?.delete(firstOf(entries))) size -= 1;
    if (entries?.size === 0) instances.delete(instanceId);
  }

  function read(instanceId: string, key: string, argument: A): Awaitable<V> {
    const version = db.cacheVersion(instanceId, dependencies);
    const entry = instances.get(instanceId)?.get(key);
    if (entry !== undefined && entry.version === version) return entry.value;
    // The version is taken before the read: a commit that comes between makes the entry stale, never wrong.
    return load(instanceId, key, argument).then((value) => {
      keep(instanceId, key, { version, value });
      return value;
    });
  }

  const holds = (instanceId: string, key: string): boolean =>
    instances.get(instanceId)?.has(key) === true;

  return { read, holds };
}

const firstOf = (map: Map<string, unknown>): string => map.keys().next().value ?? "";

/**
 * A cached read that is never older than the call, on whichever replica: what answers a read of the API, or stands in a
 * decision. Others may lag behind other replicas for a second (B7, C2).
 */
export const current =
  <K extends unknown[], V>(db: Database, read: (...key: K) => Awaitable<V>) =>
  async (...key: K): Promise<V> => {
    await db.catchUp();
    return read(...key);
  };
