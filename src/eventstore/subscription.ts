import { and, eq } from "../storage/drizzle.ts";
import type { MigratableDatabase } from "../storage/database.ts";
import { cursors } from "../storage/kernel-tables.ts";
import { putRow } from "../storage/row-change.ts";
import type { EventStore, LoggedEvent } from "./eventstore.ts";

const batchSize = 200;
const pollMs = 1_000;
const longestPauseMs = 60_000;

/** What a slow consumer does with events. It must bear to see an event twice. */
export type Consumer = (events: LoggedEvent[], instanceId: string) => Promise<void>;

/**
 * Hands every event of every instance to a consumer, at least once and in the order of the log, from a cursor that
 * survives restarts. For consumers that work after the commit: event executions, notifications, the event feed.
 *
 * A batch that fails is handed over again, after pauses that double up to a minute; other instances go on meanwhile.
 */
export function subscribe(parts: {
  db: MigratableDatabase;
  events: EventStore;
  name: string;
  consume: Consumer;
  onError: (error: unknown, instanceId: string) => void;
}): AsyncDisposable {
  const { db, events, name } = parts;
  const running = new Map<string, Promise<void>>();
  const failures = new Map<string, { count: number; until: number }>();
  let stopped = false;

  async function position(instanceId: string): Promise<bigint> {
    const t = db.table(cursors);
    const [row] = await db.read
      .select({ position: t.position })
      .from(t)
      .where(and(eq(t.name, name), eq(t.instanceId, instanceId)));
    return row?.position ?? 0n;
  }

  async function drain(instanceId: string): Promise<void> {
    let after = await position(instanceId);
    while (!stopped) {
      const batch = await events.read({ instanceId, after, limit: batchSize });
      const last = batch.at(-1);
      if (last === undefined) return;
      await parts.consume(batch, instanceId);
      after = last.sequence;
      const changes = [putRow(cursors, { name, instanceId, position: after })];
      await db.commit({ instanceId, expect: [], claims: [], events: [], changes });
    }
  }

  function wake(instanceId: string): void {
    const failed = failures.get(instanceId);
    if (stopped || running.has(instanceId) || (failed && failed.until > Date.now())) return;
    const run = drain(instanceId)
      .then(() => void failures.delete(instanceId))
      .catch((error: unknown) => {
        const count = (failed?.count ?? 0) + 1;
        const pause = Math.min(2 ** count * 100, longestPauseMs);
        failures.set(instanceId, { count, until: Date.now() + pause });
        parts.onError(error, instanceId);
      })
      .finally(() => running.delete(instanceId));
    running.set(instanceId, run);
  }

  // Commits wake the consumer; polling is the truth, for other processes and for pauses that have passed.
  const forget = db.onCommit(wake);
  const poll = async () => {
    for (const instanceId of (await db.heads()).keys()) wake(instanceId);
  };
  const timer = setInterval(() => void poll().catch((error) => parts.onError(error, "")), pollMs);
  timer.unref();
  void poll().catch((error: unknown) => parts.onError(error, ""));

  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      forget();
      clearInterval(timer);
      await Promise.allSettled(running.values());
    },
  };
}
