import type { Awaitable } from "../awaitable.ts";
import { and, eq } from "../storage/drizzle.ts";
import { Conflict, type Expectation, type MigratableDatabase } from "../storage/database.ts";
import { cursors } from "../storage/kernel-tables.ts";
import { insertRow, type RowChange, updateRows } from "../storage/row-change.ts";
import type { EventStore, LoggedEvent } from "./eventstore.ts";

const batchSize = 200;
const pollMs = 1_000;
const longestPauseMs = 60_000;

/**
 * What a slow consumer does with events. It must bear to see an event twice; the row changes that it gives are written
 * with the cursor, once.
 */
export type Consumer = (events: LoggedEvent[], instanceId: string) => Promise<RowChange[] | void>;

/** Where a consumer begins to care; undefined while nothing in the instance concerns it. */
export type From = (instanceId: string) => Awaitable<bigint | undefined>;

type Followed = {
  db: MigratableDatabase;
  events: EventStore;
  name: string;
  from?: From;
  consume: Consumer;
  onError: (error: unknown, instanceId: string) => void;
};

/** How far the log was read, and what the stored cursor says of it; undefined where there is none. */
type Position = { reached: bigint; stored: bigint | undefined };

/**
 * Hands every event of every instance to a consumer, at least once and in the order of the log, from a cursor that
 * survives restarts. For consumers that work after the commit: event executions, notifications, the event feed.
 *
 * Several processes may follow under one name: the cursor moves for one of them at a time, so the row changes of a batch
 * are written once. With `from`, events up to there are passed over, instances that do not concern the consumer cost
 * nothing, and the cursor is written where there is something to write with it, or many events lie behind it.
 * A batch that fails is handed over again, after pauses that double up to a minute; other instances go on meanwhile.
 */
export function subscribe(parts: Followed): AsyncDisposable {
  const { db, events } = parts;
  const running = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const failures = new Map<string, { count: number; until: number }>();
  const positions = new Map<string, Position>();
  let stopped = false;

  async function drain(instanceId: string): Promise<void> {
    while (!stopped) {
      const from = parts.from === undefined ? 0n : await parts.from(instanceId);
      if (from === undefined) return;
      const { reached, stored } =
        positions.get(instanceId) ?? (await storedPosition(parts, instanceId));
      const after = from > reached ? from : reached;
      const batch = await events.read({ instanceId, after, limit: batchSize });
      const last = batch.at(-1);
      if (last === undefined) {
        positions.set(instanceId, { reached: after, stored });
        return;
      }
      const changes = (await parts.consume(batch, instanceId)) ?? [];
      const next = last.sequence;
      const isWritten =
        parts.from === undefined ||
        changes.length > 0 ||
        next - (stored ?? 0n) >= BigInt(batchSize);
      if (isWritten && !(await move(parts, instanceId, stored, next, changes))) {
        positions.delete(instanceId);
        continue;
      }
      positions.set(instanceId, { reached: next, stored: isWritten ? next : stored });
      // That was all: a commit meanwhile, here or elsewhere, wakes anew.
      if (batch.length < batchSize) return;
    }
  }

  function wake(instanceId: string): void {
    if (running.has(instanceId)) again.add(instanceId);
    const failed = failures.get(instanceId);
    if (stopped || running.has(instanceId) || (failed && failed.until > Date.now())) return;
    const run = drain(instanceId)
      .then(() => void failures.delete(instanceId))
      .catch((error: unknown) => {
        const count = (failed?.count ?? 0) + 1;
        const pause = Math.min(2 ** count * 100, longestPauseMs);
        failures.set(instanceId, { count, until: Date.now() + pause });
        positions.delete(instanceId);
        parts.onError(error, instanceId);
      })
      .finally(() => {
        running.delete(instanceId);
        if (again.delete(instanceId)) wake(instanceId);
      });
    running.set(instanceId, run);
  }

  // Commits wake the consumer; polling is the truth, for other processes and for pauses that have passed.
  const forget = db.onCommit(wake);
  const poll = async () => {
    for (const [instanceId, head] of await db.heads()) {
      if ((positions.get(instanceId)?.reached ?? -1n) < head) wake(instanceId);
    }
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

/** Moves the stored cursor; false when another process has done so. */
async function move(
  { db, name }: Followed,
  instanceId: string,
  stored: bigint | undefined,
  position: bigint,
  more: RowChange[],
): Promise<boolean> {
  const row = { name, instanceId };
  const expect: Expectation[] =
    stored === undefined
      ? []
      : [{ kind: "rows", table: cursors, where: { ...row, position: stored }, count: 1 }];
  const change =
    stored === undefined
      ? insertRow(cursors, { ...row, position })
      : updateRows(cursors, row, { position });
  try {
    await db.commit({ instanceId, expect, claims: [], events: [], changes: [change, ...more] });
    return true;
  } catch (error) {
    if (error instanceof Conflict) return false;
    throw error;
  }
}

/** How far the stored cursor is. */
async function storedPosition({ db, name }: Followed, instanceId: string): Promise<Position> {
  const t = db.table(cursors);
  const [row] = await db.read
    .select({ position: t.position })
    .from(t)
    .where(and(eq(t.name, name), eq(t.instanceId, instanceId)));
  return { reached: row?.position ?? 0n, stored: row?.position };
}
