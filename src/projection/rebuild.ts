import type { EventStore } from "../eventstore/eventstore.ts";
import type { MigratableDatabase, Shadow } from "../storage/database.ts";
import type { AnyTable } from "../storage/table.ts";

const batchSize = 1_000;
const maxRounds = 100;

type Parts = { db: MigratableDatabase; events: EventStore; onProgress?: (events: number) => void };

/**
 * Compares projection tables with a fresh fold of the log, while they serve. Gives the number of differing rows a table.
 */
export const verifyProjections = (parts: Parts, tables: AnyTable[]): Promise<Map<string, number>> =>
  withReplay(parts, tables, (shadow, heads) => shadow.compare(heads));

/** Replays the log into fresh copies of projection tables and puts them in place, while the old ones serve. */
export async function rebuildProjections(parts: Parts, tables: AnyTable[]): Promise<void> {
  await withReplay(parts, tables, async (shadow, heads) => (await shadow.swap(heads)) || undefined);
}

async function withReplay<T>(
  { db, events, onProgress }: Parts,
  tables: AnyTable[],
  finish: (shadow: Shadow, heads: ReadonlyMap<string, bigint>) => Promise<T | undefined>,
): Promise<T> {
  const wanted: ReadonlySet<AnyTable> = new Set(tables);
  const shadow = await db.shadow(tables);
  const positions = new Map<string, bigint>();
  let replayed = 0;
  try {
    for (let round = 0; round < maxRounds; round++) {
      for (const [instanceId, last] of await db.heads()) {
        for (;;) {
          const after = positions.get(instanceId) ?? 0n;
          if (after >= last) break;
          const batch = await events.read({ instanceId, after, limit: batchSize });
          const changes = batch.flatMap((event) =>
            events.reduce(event).filter(({ table }) => wanted.has(table)),
          );
          await shadow.apply(changes);
          positions.set(instanceId, batch.at(-1)?.sequence ?? last);
          replayed += batch.length;
          onProgress?.(replayed);
        }
      }
      // The log moves on while it is replayed: what is left gets shorter with every round.
      const done = await finish(shadow, positions);
      if (done !== undefined) return done;
    }
    throw new Error("the log grows faster than it can be replayed");
  } finally {
    await shadow.drop();
  }
}
