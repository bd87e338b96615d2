import type { Reaction } from "../../eventstore/settle.ts";
import type { Transaction, WriteContext } from "../../eventstore/transaction.ts";
import { rowsWhere } from "../../projection/rows.ts";
import type { Deps } from "../../projection/module.ts";
import { deleteRows, putRow, type RowChange } from "../../storage/row-change.ts";
import { instant, table, text } from "../../storage/table.ts";
import { user } from "../user/index.ts";
import { sessionEvents } from "./events.ts";
import { factorEnds } from "./projection.ts";
import { requireSession, session } from "./session.ts";

/**
 * Browsers of the hosted login that users trust: there they are spared the second factor (L6). Each has been proven by a
 * second factor there.
 */
export const trustedBrowsers = table(
  "trusted_browsers",
  {
    instanceId: text(),
    userId: text(),
    browserId: text(),
    trustedAt: instant(),
    expiresAt: instant(),
  },
  { key: ["instanceId", "userId", "browserId"], indexes: [{ columns: ["expiresAt"] }] },
);

export type TrustedBrowsers = ReturnType<typeof createTrustedBrowsers>;

export function createTrustedBrowsers({ db, events }: Pick<Deps, "db" | "events">) {
  const ofUser = (instanceId: string, userId: string) =>
    rowsWhere(db, trustedBrowsers, { instanceId, userId });

  return {
    /** The user trusts the browser of the request for so long: they have just proven a second factor there. */
    async trust(at: WriteContext, userId: string, lifetimeMs: number): Promise<void> {
      const { instanceId, browser: browserId } = at;
      if (browserId === undefined || lifetimeMs === 0) return;
      await events.transact(at, async (tx) => {
        // What ends the trust stands in the stream of the user.
        if ((await tx.load(user, userId)).state?.state !== "active") return;
        const [trustedAt, expiresAt] = [tx.now, new Date(tx.now.getTime() + lifetimeMs)];
        const key = { instanceId, userId, browserId };
        tx.write(putRow(trustedBrowsers, { ...key, trustedAt, expiresAt }));
      });
    },

    /**
     * Spares a session the second factor where its user trusts the browser of the request; whether they do.
     *
     * @param of.lifetimeMs how long a trust counts by the settings of now
     * @throws NOT_FOUND SESSION_NOT_FOUND
     */
    async spare(
      at: WriteContext,
      of: { sessionId: string; userId: string; lifetimeMs: number },
    ): Promise<boolean> {
      const { sessionId, userId, lifetimeMs } = of;
      const { instanceId, browser } = at;
      const rows = browser === undefined ? [] : await ofUser(instanceId, userId);
      if (!rows.some(({ browserId }) => browserId === browser)) return false;
      return events.transact(at, async (tx) => {
        await tx.load(user, userId);
        const loaded = await tx.load(session, sessionId);
        if (requireSession(loaded.state).user?.id !== userId) return false;
        const found = (await ofUser(instanceId, userId)).find(
          ({ browserId, trustedAt }) =>
            browserId === browser && trustedAt.getTime() + lifetimeMs > tx.now.getTime(),
        );
        if (found === undefined) return false;
        const { browserId, trustedAt } = found;
        tx.expectRows(trustedBrowsers, { instanceId, userId, browserId }, 1);
        tx.recognise({ personId: userId, sessionId });
        const since = trustedAt.toISOString();
        tx.record(session, loaded, [sessionEvents["second_factor.spared"]({ since })]);
        return true;
      });
    },

    /** Ends the trust in all browsers of the user but one, in units of its own. */
    async endOthers(at: WriteContext, userId: string, staying: string | undefined): Promise<void> {
      const { instanceId } = at;
      await events.transact(at, async (tx) => {
        for (const { browserId } of await ofUser(instanceId, userId)) {
          if (browserId !== staying) tx.write(endTrust({ instanceId, userId, browserId }));
        }
      });
    },
  };
}

/** Ends the trust in one browser, or in all of the user. */
export const endTrust = (of: {
  instanceId: string;
  userId: string;
  browserId?: string;
}): RowChange => deleteRows(trustedBrowsers, of);

/** What a user does who no longer trusts what they have proven before, or what is done to them. */
const ends = [
  "user.deactivated",
  "user.locked",
  "user.removed",
  "user.sessions.ended",
  "user.human.password.changed",
  "user.human.password.removed",
  ...factorEnds,
] as const;

/** The trust ends in the unit of what ends it. */
export const trustEnds: Reaction = {
  to: ends,
  react(tx: Transaction, happened) {
    const { instanceId } = tx.at;
    for (const { aggregateId: userId, isOfNew } of happened) {
      // Who is made in this unit has trusted no browser.
      if (!isOfNew) tx.write(endTrust({ instanceId, userId }));
    }
    return Promise.resolve();
  },
};
