import type { Presence } from "../../../eventstore/presence.ts";
import type { WriteContext } from "../../../eventstore/transaction.ts";
import { rowsWhere } from "../../../projection/rows.ts";
import type { Deps } from "../../../projection/module.ts";
import type { Database } from "../../../storage/database.ts";
import { deleteRows, putRow, type RowChange } from "../../../storage/row-change.ts";
import { instant, type Row, table, text } from "../../../storage/table.ts";
import { mayReadNews, tellNews } from "../notice.ts";
import { user } from "../user.ts";
import { failureColumns, noFailures } from "./failures.ts";

/**
 * Browsers by which users have logged in, each with the wrong attempts that came from it since (J12): whoever guesses
 * elsewhere closes nothing there. The id is that of a browser of the login, which proves it by its cookie.
 */
export const knownBrowsers = table(
  "known_browsers",
  {
    instanceId: text(),
    userId: text(),
    browserId: text(),
    ...failureColumns(),
    seenAt: instant(),
    expiresAt: instant(),
  },
  { key: ["instanceId", "userId", "browserId"], indexes: [{ columns: ["expiresAt"] }] },
);

export type KnownBrowser = Row<typeof knownBrowsers>;

const dayMs = 24 * 60 * 60_000;
// As long as the browser keeps its cookie.
const lifeMs = 365 * dayMs;
const most = 20;

export type KnownBrowsers = ReturnType<typeof createKnownBrowsers>;

/** All browsers by which users have logged in. */
export const knownBrowsersOf = (db: Database) => (instanceId: string, userId: string) =>
  rowsWhere(db, knownBrowsers, { instanceId, userId });

/** Finds the browser of a request among those that a user has logged in by. */
export function knownBrowserReader(db: Database) {
  const ofUser = knownBrowsersOf(db);
  return async (
    { instanceId, browser }: WriteContext,
    userId: string,
    now: Date,
  ): Promise<KnownBrowser | undefined> => {
    if (browser === undefined) return undefined;
    const rows = await ofUser(instanceId, userId);
    return rows.find(({ browserId, expiresAt }) => browserId === browser && expiresAt > now);
  };
}

export function createKnownBrowsers({
  db,
  events,
  now,
  newId,
}: Pick<Deps, "db" | "events" | "now" | "newId">) {
  const ofUser = knownBrowsersOf(db);
  const read = knownBrowserReader(db);
  const find = (at: WriteContext, userId: string) => read(at, userId, now());

  return {
    /** The browser of the request, where the user has logged in by it. */
    find,
    /**
     * The user has logged in by the browser of the request. Of each user the last 20 browsers are known. They are told of
     * each that is new beside others, once.
     */
    async remember(at: WriteContext, userId: string): Promise<void> {
      const { instanceId, browser } = at;
      if (browser === undefined) return;
      const known = await find(at, userId);
      // Once a day is enough for what lives a year.
      if (known !== undefined && now().getTime() - known.seenAt.getTime() < dayMs) return;
      await events.transact(at, async (tx) => {
        // Nothing is kept of whoever is gone.
        const { state } = await tx.load(user, userId);
        if (state === undefined) return;
        const rows = await ofUser(instanceId, userId);
        const found = rows.find(({ browserId }) => browserId === browser);
        // Of many log-ins at once one finds it new.
        const key = { instanceId, userId, browserId: browser };
        tx.expectRows(knownBrowsers, key, found === undefined ? 0 : 1);
        if (found === undefined && rows.length > 0 && mayReadNews(state.email)) {
          const about = { news: "browser.new", browser: seenOf(tx.at.presence) } as const;
          tellNews(tx, newId, { instanceId, userId }, about);
        }
        const others = rows
          .filter(({ browserId }) => browserId !== browser)
          .toSorted((one, other) => other.seenAt.getTime() - one.seenAt.getTime());
        const seen = found ?? noFailures;
        const seenAt = tx.now;
        const expiresAt = new Date(seenAt.getTime() + lifeMs);
        tx.write(
          putRow(knownBrowsers, { ...seen, ...key, seenAt, expiresAt }),
          ...others.slice(most - 1).map((one) => forget(one)),
        );
      });
    },
  };
}

/** As far as it is known: `Firefox, Linux`. */
const seenOf = (presence: Presence | undefined): string =>
  [presence?.browser, presence?.system]
    .filter((each) => each !== undefined && each !== "")
    .join(", ");

const forget = ({ instanceId, userId, browserId }: KnownBrowser): RowChange =>
  deleteRows(knownBrowsers, { instanceId, userId, browserId });
