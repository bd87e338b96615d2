import { rowWhere } from "../projection/rows.ts";
import type { Deps } from "../projection/module.ts";
import { Conflict } from "../storage/database.ts";
import { putRow } from "../storage/row-change.ts";
import { messagePaces } from "./tables.ts";

const shortestPauseMs = 60_000;
// As long as the code of the last mail counts: there is always one that does.
const longestPauseMs = 60 * 60_000;
const forgottenAfterMs = 24 * 60 * 60_000;

/** What somebody who has not proven who they are may have sent to a user. */
export type PacedMessage = "password.reset" | "email.verification" | "email.login" | "registration";

/**
 * Whether such a message may be sent to the user now. The first one may at once, the next a minute later, each further one
 * after twice as long, an hour at most, so that nobody fills a stranger's mailbox; a day without any begins anew. Of those
 * who ask at the same time, on whatever replica, one may. A browser by which the user has logged in before has a pace of its own,
 * so that no stranger takes it up (L8).
 */
export type MessagePace = (
  user: { instanceId: string; userId: string; browserId?: string | undefined },
  message: PacedMessage,
) => Promise<boolean>;

/** A pause that is still longer than there is was begun by a clock that went back since. */
const isQuiet = (until: Date, at: number): boolean =>
  until.getTime() > at && until.getTime() <= at + longestPauseMs;

export function createMessagePace({ db, now }: Pick<Deps, "db" | "now">): MessagePace {
  return async ({ instanceId, userId, browserId }, paced) => {
    const message = browserId === undefined ? paced : `${paced} ${browserId}`;
    const key = { instanceId, userId, message };
    const row = await rowWhere(db, messagePaces, key);
    const at = now().getTime();
    if (row !== undefined && isQuiet(row.quietUntil, at)) return false;
    const sent = row === undefined || row.expiresAt.getTime() <= at ? 0 : row.sent;
    const quietUntil = at + Math.min(shortestPauseMs * 2 ** sent, longestPauseMs);
    const values = {
      sent: sent + 1,
      quietUntil: new Date(quietUntil),
      expiresAt: new Date(quietUntil + forgottenAfterMs),
    };
    const seen = row === undefined ? key : { ...key, sent: row.sent, quietUntil: row.quietUntil };
    const count = row === undefined ? 0 : 1;
    const expect = [{ kind: "rows" as const, table: messagePaces, where: seen, count }];
    const changes = [putRow(messagePaces, { ...key, ...values })];
    try {
      await db.commit({ instanceId, expect, claims: [], events: [], changes });
      return true;
    } catch (error) {
      if (error instanceof Conflict) return false;
      throw error;
    }
  };
}
