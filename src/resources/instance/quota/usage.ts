import type { UsageCounter } from "../../../authz/ports.ts";
import { whenKnown } from "../../../awaitable.ts";
import type { Database } from "../../../storage/database.ts";
import { rowsWhere } from "../../../projection/rows.ts";
import { deferredWrite } from "../../../storage/deferred-write.ts";
import { cachedRead, current } from "../../../storage/read-cache.ts";
import { putRow } from "../../../storage/row-change.ts";
import { instant, int64, table, text } from "../../../storage/table.ts";
import type { Quotas } from "../events.ts";
import { quotaExhausted, quotasReader } from "./quotas.ts";

/** What each process has counted of the instances that have quotas a day; their sum is what an instance used. */
export const usages = table(
  "usages",
  {
    instanceId: text(),
    /** Of UTC, as 2026-11-25. */
    day: text(),
    process: text(),
    requests: int64(),
    tokens: int64(),
    expiresAt: instant(),
  },
  { key: ["instanceId", "day", "process"], indexes: [{ columns: ["expiresAt"] }] },
);

type Counted = Parameters<UsageCounter["count"]>[0];
type Counts = Record<Counted, number>;

const quotaOf = { requests: "requestsPerDay", tokens: "tokensPerDay" } as const satisfies Record<
  Counted,
  keyof Quotas
>;

const flushMs = 1_000;
const dayMs = 86_400_000;
const keptMs = 2 * dayMs;

/**
 * Counts what instances use in a day (UTC), where it is limited: in memory, written each second, so that a process that is
 * killed loses a second, and replicas know a second later what others have counted.
 */
export function createUsage(
  { db, now }: { db: Database; now: () => Date },
  onError: (error: unknown) => void,
): UsageCounter & AsyncDisposable {
  const quotasOf = quotasReader(db);
  const othersOf = usedReader(db, db.processName);
  // Of this process, and only of the day that is.
  const own = new Map<string, Counts>();
  const changed = new Set<string>();
  let day = "";

  function today(): string {
    const date = dayOf(now());
    if (date === day) return day;
    day = date;
    own.clear();
    changed.clear();
    return day;
  }

  async function write(instanceId: string, counts: Counts): Promise<void> {
    const expiresAt = new Date(now().getTime() + keptMs);
    const row = putRow(usages, {
      instanceId,
      day,
      process: db.processName,
      expiresAt,
      requests: BigInt(counts.requests),
      tokens: BigInt(counts.tokens),
    });
    await db.commit({ instanceId, expect: [], claims: [], events: [], changes: [row] });
  }

  const flushing = deferredWrite(async () => {
    const due = [...changed];
    changed.clear();
    const written = due.map(async (instanceId) => {
      const counts = own.get(instanceId);
      if (counts !== undefined) await write(instanceId, counts).catch(onError);
    });
    await Promise.all(written);
  }, flushMs);

  function countOne(what: Counted, instanceId: string): void {
    today();
    let counts = own.get(instanceId);
    if (counts === undefined) own.set(instanceId, (counts = { requests: 0, tokens: 0 }));
    counts[what] += 1;
    changed.add(instanceId);
    flushing.ask();
  }

  return {
    require: (what, instanceId) =>
      whenKnown(quotasOf(instanceId), (quotas) => {
        const quota = quotaOf[what];
        const most = quotas?.[quota];
        if (most === undefined) return;
        return whenKnown(othersOf(instanceId, today()), (others) => {
          const used = others[what] + (own.get(instanceId)?.[what] ?? 0);
          if (used < most) return;
          const leftMs = dayMs - (now().getTime() % dayMs);
          throw quotaExhausted(quota, most, Math.ceil(leftMs / 1_000));
        });
      }),
    count: (what, instanceId) =>
      whenKnown(quotasOf(instanceId), (quotas) => {
        if (quotas?.[quotaOf[what]] !== undefined) countOne(what, instanceId);
      }),
    [Symbol.asyncDispose]: flushing[Symbol.asyncDispose],
  };
}

/** What was counted of an instance on a day, as `dayOf` names it: by all processes, or by all but one. */
function usedReader(db: Database, except?: string) {
  return cachedRead<Counts>(db, [usages], async (instanceId, day) => {
    const used: Counts = { requests: 0, tokens: 0 };
    for (const row of await rowsWhere(db, usages, { instanceId, day })) {
      const { process, requests, tokens } = row;
      if (process === except) continue;
      used.requests += Number(requests);
      used.tokens += Number(tokens);
    }
    return used;
  });
}

/** What an instance uses now. */
export type InstanceUsage = { users: bigint; organizations: bigint; today: Counts };

export function usageReader(parts: {
  db: Database;
  now: () => Date;
  countObjects: (instanceId: string) => Promise<Pick<InstanceUsage, "users" | "organizations">>;
}): (instanceId: string) => Promise<InstanceUsage> {
  const usedOf = current(parts.db, usedReader(parts.db));
  return async (instanceId) => ({
    ...(await parts.countObjects(instanceId)),
    today: await usedOf(instanceId, dayOf(parts.now())),
  });
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);
