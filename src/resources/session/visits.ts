import { rowsWhere, equals } from "../../projection/rows.ts";
import type { SealingKey } from "../../crypto/secrets.ts";
import type { Seen } from "../../eventstore/presence.ts";
import { seenColumns } from "../../eventstore/seen.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import { rowByKey } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { and, eq, inArray } from "../../storage/drizzle.ts";
import { recent } from "../../storage/recent.ts";
import { deleteRows, putRow, type RowChange } from "../../storage/row-change.ts";
import { instant, type Row, table, text } from "../../storage/table.ts";
import { user } from "../user/index.ts";
import { session } from "./session.ts";

/**
 * In which browser of the hosted login a session is, and what was seen of it last. The id is that of the session, which it
 * goes with. Address and browser are sealed with the key of the user, so that erasure erases them.
 */
export const sessionVisits = table(
  "session_visits",
  {
    instanceId: text(),
    id: text(),
    userId: text(),
    browserId: text(),
    seenAt: instant(),
    ...seenColumns,
  },
  { key: ["instanceId", "id"], indexes: [{ columns: ["instanceId", "userId", "browserId"] }] },
);

type Visited = { id: string; userId: string };
/** What is known of the browser of a session; `seen` is undefined where its key is gone. */
export type Visit = Row<typeof sessionVisits> & { seen: Seen | undefined };

const hourMs = 3_600_000;
const mostKnown = 50_000;

/** A session is seen in the browser of the request: in the unit that makes it, or later. One that no browser has leaves nothing. */
export async function recordVisit(
  { events }: Pick<Deps, "events">,
  tx: Transaction,
  { id, userId }: Visited,
): Promise<void> {
  const { instanceId, browser: browserId, presence } = tx.at;
  if (browserId === undefined || presence === undefined) return;
  const newKeys = new Map<string, SealingKey>();
  const theirs = { ...presence, personId: userId };
  const { sealed, changes } = await events.seen.seal(tx, { instanceId, id }, theirs, newKeys);
  const row = { instanceId, id, userId, browserId, seenAt: tx.now, ...sealed };
  tx.write(...changes, putRow(sessionVisits, row));
}

export function createVisits({ db, events, now }: Pick<Deps, "db" | "events" | "now">) {
  const t = db.table(sessionVisits);
  const byId = rowByKey(db, sessionVisits);
  // When sessions were seen last, as far as this process knows.
  const known = recent<number>(mostKnown);

  return {
    /** The browser of the request was seen with a session: written once an hour. */
    async note(at: WriteContext, visited: Visited): Promise<void> {
      const { instanceId } = at;
      const isRecent = (seenAt: number | undefined) =>
        seenAt !== undefined && now().getTime() - seenAt < hourMs;
      const name = `${instanceId}/${visited.id}`;
      if (isRecent(known.find(name))) return;
      const row = await byId(instanceId, visited.id);
      known.store(name, now().getTime());
      if (isRecent(row?.seenAt.getTime())) return;
      await events.transact(at, async (tx) => {
        // Nothing is kept of whoever is gone, nor of what has ended.
        const { state } = await tx.load(session, visited.id);
        if (state === undefined || (await tx.load(user, visited.userId)).state === undefined)
          return;
        await recordVisit({ events }, tx, visited);
      });
    },

    /** What is known of sessions; those that no browser has are left out. */
    async ofSessions(instanceId: string, ids: readonly string[]): Promise<Visit[]> {
      const rows = await rowsWhere(db, sessionVisits, { instanceId, id: ids });
      return Promise.all(
        rows.map(async (row) => ({ ...row, seen: await events.seen.open(row, now()) })),
      );
    },

    /** The browser that a session is in; undefined for one that no browser has. */
    browserOf: async (instanceId: string, id: string) => (await byId(instanceId, id))?.browserId,

    /**
     * Of each of some sessions, those of the same user in the same browser beside itself. Some of them may have ended; a session
     * that no browser has is left out.
     */
    async beside(
      instanceId: string,
      ids: readonly string[],
    ): Promise<ReadonlyMap<string, readonly string[]>> {
      const users = db.read
        .select({ userId: t.userId })
        .from(t)
        .where(equals(db, sessionVisits, { instanceId, id: ids }));
      const rows = await db.read
        .select({ id: t.id, userId: t.userId, browserId: t.browserId })
        .from(t)
        .where(and(eq(t.instanceId, instanceId), inArray(t.userId, users)));
      const together = Map.groupBy(rows, ({ userId, browserId }) => `${userId} ${browserId}`);
      const wanted = new Set(ids);
      return new Map(
        [...together.values()].flatMap((all) =>
          all
            .filter(({ id }) => wanted.has(id))
            .map(({ id }) => [id, all.flatMap((other) => (other.id === id ? [] : other.id))]),
        ),
      );
    },
  };
}

/** What goes with a session. */
export const removeVisit = (instanceId: string, id: string): RowChange =>
  deleteRows(sessionVisits, { instanceId, id });
