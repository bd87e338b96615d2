import type { Database } from "./database.ts";
import type { AnyTable } from "./table.ts";

type Entry<V> = { stamp: number; value: V };

/**
 * A bounded cache of reads that is never older than the last commit that touched their tables in the instance:
 * what a write changed, the next call sees. A hit is answered without a promise.
 */
export function cachedRead<V>(
  db: Database,
  tables: readonly AnyTable[],
  load: (instanceId: string, key: string) => Promise<V>,
  capacity = 10_000,
): (instanceId: string, key: string) => V | Promise<V> {
  const entries = new Map<string, Entry<V>>();
  return (instanceId, key) => {
    const name = `${instanceId}\u0000${key}`;
    const stamp = db.stamp(instanceId, tables);
    const entry = entries.get(name);
    if (entry !== undefined && entry.stamp === stamp) return entry.value;
    // The stamp is taken before the read: a commit that comes between makes the entry stale, never wrong.
    return load(instanceId, key).then((value) => {
      if (entries.size >= capacity)
        for (const oldest of entries.keys()) {
          entries.delete(oldest);
          break;
        }
      entries.set(name, { stamp, value });
      return value;
    });
  };
}
