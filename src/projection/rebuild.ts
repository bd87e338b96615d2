import { setImmediate as nextTurn } from "node:timers/promises";
import { threadMs } from "../storage/thread-time.ts";
import type { EventStore } from "../eventstore/eventstore.ts";
import type { Bring, MigratableDatabase, Shadow } from "../storage/database.ts";
import type { AnyTable } from "../storage/table.ts";

const [fewest, most] = [10, 1_000];
// So long a batch may take the processor while others wait for the event loop.
const aimedMs = 10;
const [slower, faster] = [0.5, 1.25];
const rounds = 3;

type Parts = { db: MigratableDatabase; events: EventStore; onProgress?: (events: number) => void };

/**
 * Compares projection tables with a fresh fold of the log, while they serve. Gives the number of differing rows a table.
 */
export const verifyProjections = (parts: Parts, tables: AnyTable[]): Promise<Map<string, number>> =>
  withReplay(parts, tables, (shadow, bring) => shadow.compare(bring));

/** Replays the log into fresh copies of projection tables and puts them in place, while the old ones serve. */
export const rebuildProjections = (parts: Parts, tables: AnyTable[]): Promise<void> =>
  withReplay(parts, tables, (shadow, bring) => shadow.swap(bring));

async function withReplay<T>(
  { db, events, onProgress }: Parts,
  tables: AnyTable[],
  finish: (shadow: Shadow, bring: Bring) => Promise<T>,
): Promise<T> {
  const wanted: ReadonlySet<AnyTable> = new Set(tables);
  const shadow = await db.shadow(tables);
  const positions = new Map<string, bigint>();
  let replayed = 0;
  let batchSize = 50;
  let turnBegan = threadMs();
  const bring: Bring = async (heads, apply) => {
    for (const [instanceId, last] of heads) {
      for (;;) {
        const after = positions.get(instanceId) ?? 0n;
        if (after >= last) break;
        const limit = Math.min(Number(last - after), Math.round(batchSize));
        const batchBegan = threadMs();
        const batch = await events.read({ instanceId, after, limit });
        const changes = batch.flatMap((event) =>
          events.reduce(event).filter(({ table }) => wanted.has(table)),
        );
        await apply(changes);
        positions.set(instanceId, batch.at(-1)?.sequence ?? last);
        replayed += batch.length;
        onProgress?.(replayed);
        const took = threadMs() - batchBegan;
        if (batch.length >= Math.round(batchSize)) {
          batchSize *= Math.min(Math.max(aimedMs / Math.max(took, 1), slower), faster);
          batchSize = Math.min(Math.max(batchSize, fewest), most);
        }
        // Not after each of the last few: units that come meanwhile would have to be replayed before the end.
        if (threadMs() - turnBegan < aimedMs) continue;
        await nextTurn();
        turnBegan = threadMs();
      }
    }
  };
  try {
    // The log goes on while it is replayed: what is left for the end gets shorter with every round.
    for (let round = 0; round < rounds; round++) await bring(await db.heads(), shadow.apply);
    return await finish(shadow, bring);
  } finally {
    await shadow.drop();
  }
}
