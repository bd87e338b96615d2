import { rowsWhere } from "../../projection/rows.ts";
import {
  ownWork,
  type Transaction,
  type WriteContext,
  type Written,
} from "../../eventstore/transaction.ts";
import type { Sweep } from "../../jobs/sweeper.ts";
import { someIds } from "../../projection/ids.ts";
import type { Deps } from "../../projection/module.ts";
import { asc, lte } from "../../storage/drizzle.ts";
import type { Ending } from "./events.ts";
import { sessions } from "./projection.ts";
import { session, terminate } from "./session.ts";
import { removeSecretsOf } from "./token.ts";
import { removeVisit } from "./visits.ts";

type Parts = Pick<Deps, "db" | "events" | "secrets" | "now">;

// Streams that one unit ends: few enough that others need not wait for it.
const atOnce = 20;

/** Ends a session in the unit: its token and what it alone could read of the log go with it. */
export async function endSession(
  { secrets }: Pick<Deps, "secrets">,
  tx: Transaction,
  at: { instanceId: string; sessionId: string },
  ending: Ending,
): Promise<() => Written> {
  const loaded = await tx.load(session, at.sessionId);
  const { user } = loaded.state ?? {};
  tx.recognise({ sessionId: at.sessionId, ...(user && { personId: user.id }) });
  tx.record(session, loaded, terminate(loaded.state, ending));
  tx.write(removeSecretsOf(secrets, at), removeVisit(at.instanceId, at.sessionId));
  return tx.written(loaded);
}

/** Ends those of the sessions that have not ended yet, a few in a unit; tells how many these were. */
export async function endSome(
  deps: Pick<Deps, "events" | "secrets">,
  at: WriteContext,
  ids: readonly string[],
): Promise<number> {
  const { instanceId } = at;
  let ended = 0;
  for (const some of fewOf(ids)) {
    ended += await deps.events.transact(at, async (tx) => {
      let count = 0;
      for (const sessionId of some) {
        if ((await tx.load(session, sessionId)).state === undefined) continue;
        await endSession(deps, tx, { instanceId, sessionId }, "deleted");
        count += 1;
      }
      return count;
    });
  }
  return ended;
}

function* fewOf(ids: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < ids.length; from += atOnce) yield ids.slice(from, from + atOnce);
}

/** Removes what has expired or ended with its user. It counts no more already, so nothing waits for this. */
export const sweepSessions =
  (deps: Parts): Sweep =>
  async (limit) => {
    const t = deps.db.table(sessions);
    const due = await deps.db.read
      .select({ instanceId: t.instanceId, id: t.id })
      .from(t)
      .where(lte(t.expiresAt, deps.now()))
      .orderBy(asc(t.expiresAt))
      .limit(limit);
    for (const [instanceId, found] of Map.groupBy(due, (each) => each.instanceId)) {
      const ids = found.map(({ id }) => id);
      await endAll(deps, ownWork({ instanceId, editorId: "system:sweeper" }), ids);
    }
    return due.length;
  };

/** Removes up to `limit` sessions of users of an organization that is gone; tells how many. */
export const removeContentsOfSessions =
  (deps: Parts) =>
  async (at: WriteContext, organizationId: string, limit: number): Promise<number> => {
    const { instanceId } = at;
    const ids = await someIds(deps.db, sessions, { instanceId, organizationId }, limit);
    await endAll(deps, at, ids);
    return ids.length;
  };

async function endAll(deps: Parts, at: WriteContext, ids: string[]): Promise<void> {
  const { instanceId } = at;
  for (const some of fewOf(ids)) {
    await deps.events.transact(at, async (tx) => {
      for (const sessionId of some) await tx.load(session, sessionId);
      // Read after the streams: one that was given more time meanwhile makes the decision be taken anew.
      const rows = await rowsWhere(deps.db, sessions, { instanceId, id: some });
      for (const { id: sessionId, expiresAt } of rows) {
        if (expiresAt === null || expiresAt > tx.now) continue;
        const ending = expiresAt.getTime() === 0 ? "user" : "expired";
        await endSession(deps, tx, { instanceId, sessionId }, ending);
      }
    });
  }
}
