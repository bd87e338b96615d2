import type { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import type { Handlers } from "../../authz/service.ts";
import type { Deps } from "../../projection/module.ts";
import { deferredWrite } from "../../storage/deferred-write.ts";
import { and, eq, gte } from "../../storage/drizzle.ts";
import { putRow } from "../../storage/row-change.ts";
import { instant, int64, table, text } from "../../storage/table.ts";
import { sessions } from "./projection.ts";

/** What each process has counted of the log-ins of a day; their sum is how many there were. */
export const logIns = table(
  "log_ins",
  {
    instanceId: text(),
    /** Empty for those of all organizations together. */
    organizationId: text(),
    /** Of UTC, as 2026-11-26. */
    day: text(),
    process: text(),
    count: int64(),
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "organizationId", "day", "process"],
    indexes: [{ columns: ["expiresAt"] }],
  },
);

const usualDays = 14;
const flushMs = 1_000;
const dayMs = 86_400_000;
/** Longer than may be asked for. */
const keptMs = 33 * dayMs;

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

type Counted = { instanceId: string; organizationId: string; day: string; count: number };

/** What this process has counted of the day that is. */
export type CountedHere = Map<string, Counted>;

const keyOf = (instanceId: string, organizationId: string): string =>
  `${instanceId}\n${organizationId}`;

/**
 * Counts sessions that are begun for somebody who is known, once they are committed, in memory; each second it is written, so
 * that a log-in costs nothing more and a process that is killed loses a second of the counts.
 */
export function countLogIns(
  counted: CountedHere,
  { db, now }: Pick<Deps, "db" | "now">,
  onError: (error: unknown) => void,
): AsyncDisposable {
  const due = new Set<Counted>();
  let today = "";

  function add(instanceId: string, organizationId: string): void {
    const key = keyOf(instanceId, organizationId);
    let found = counted.get(key);
    if (found === undefined) {
      counted.set(key, (found = { instanceId, organizationId, day: today, count: 0 }));
    }
    found.count += 1;
    due.add(found);
  }

  const flushing = deferredWrite(async () => {
    const expiresAt = new Date(now().getTime() + keptMs);
    const rows = [...due].map((each) => ({ ...each, count: BigInt(each.count) }));
    due.clear();
    for (const [instanceId, own] of Map.groupBy(rows, (row) => row.instanceId)) {
      const changes = own.map((row) =>
        putRow(logIns, { ...row, process: db.processName, expiresAt }),
      );
      await db.commit({ instanceId, expect: [], claims: [], events: [], changes }).catch(onError);
    }
  }, flushMs);

  const forget = db.onInsert(sessions, ({ instanceId, userId, organizationId }) => {
    if (userId === "") return;
    const day = dayOf(now());
    if (day !== today) counted.clear();
    today = day;
    add(String(instanceId), "");
    add(String(instanceId), String(organizationId));
    flushing.ask();
  });
  return {
    async [Symbol.asyncDispose]() {
      forget();
      await flushing[Symbol.asyncDispose]();
    },
  };
}

/**
 * Answers how many log-ins there were: it reads a row a day and process, by the key. Those of this process that are not written
 * yet are among them, so that whoever has logged in to it finds their own.
 */
export function logInCounts(
  counted: CountedHere,
  { db, now }: Pick<Deps, "db" | "now">,
): Handlers<typeof SessionService>["getLogInCounts"] {
  const t = db.table(logIns);
  return async ({ days: asked }, { instanceId, context }) => {
    const organizationId = context.type === "organization" ? context.organizationId : "";
    const days = asked === 0 ? usualDays : asked;
    const end = now().getTime();
    const shown = Array.from({ length: days }, (_, nth) =>
      dayOf(new Date(end - (days - 1 - nth) * dayMs)),
    );
    const rows = await db.read
      .select({ day: t.day, process: t.process, count: t.count })
      .from(t)
      .where(
        and(
          eq(t.instanceId, instanceId),
          eq(t.organizationId, organizationId),
          gte(t.day, shown[0] ?? ""),
        ),
      );
    const here = counted.get(keyOf(instanceId, organizationId));
    const counts = new Map<string, bigint>();
    if (here !== undefined) counts.set(here.day, BigInt(here.count));
    for (const { day, process, count } of rows) {
      // What this process has written of its day is among what it has counted.
      if (process === db.processName && day === here?.day) continue;
      counts.set(day, (counts.get(day) ?? 0n) + count);
    }
    return { result: shown.map((day) => ({ day, count: counts.get(day) ?? 0n })) };
  };
}
