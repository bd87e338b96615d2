import type { Database } from "./database.ts";
import type { Dependency } from "./stamps.ts";

type Entry<V> = { stamp: number; value: V };

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
  capacity = 10_000,
): (instanceId: string, key: string, argument: A) => V | Promise<V> {
  const entries = new Map<string, Entry<V>>();
  return (instanceId, key, argument) => {
    const name = `${instanceId}\u0000${key}`;
    const stamp = db.stamp(instanceId, dependencies);
    const entry = entries.get(name);
    if (entry !== undefined && entry.stamp === stamp) return entry.value;
    // The stamp is taken before the read: a commit that comes between makes the entry stale, never wrong.
    return load(instanceId, key, argument).then((value) => {
      if (entries.size >= capacity) dropOldest(entries);
      entries.set(name, { stamp, value });
      return value;
    });
  };
}

/**
 * A cached read that is never older than the call, on whichever replica: what answers a read of the API, or stands in a
 * decision. Others may lag behind other replicas for a second (decisions B7, C2).
 */
export const current =
  <K extends unknown[], V>(db: Database, read: (...key: K) => V | Promise<V>) =>
  async (...key: K): Promise<V> => {
    await db.catchUp();
    return read(...key);
  };

function dropOldest(entries: Map<string, unknown>): void {
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
}
