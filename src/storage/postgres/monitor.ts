import { setTimeout as delay } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { sequences } from "../kernel-tables.ts";
import type { createCacheVersions } from "../cache-versions.ts";
import { connect } from "./connect.ts";
import { commitCounters, commitParts } from "./ddl.ts";
import { cannotBeReached, storeError } from "./errors.ts";
import { runningTimeout } from "./running-timeout.ts";

const pollMs = 250;
const notifyMs = 20;
const answerMs = 1_000;
/** A poll is trusted this long from the moment it was sent; with the pause below, under the second of B7. */
const trustMs = 700;
/** Where replicas tell each other that it is worth to look now. */
export const commitChannel = "idsvc_commits";

export type Monitor = AsyncDisposable & {
  /** Whether commits of other replicas have been looked for lately: what is cached may be trusted. */
  isFresh(): boolean;
  /** Resolves when every commit that was acknowledged before the call, by any replica, counts in the cache versions. */
  catchUp(): Promise<void>;
  /** A batch of ours was committed: the instance had seen `before` units, and has seen `ours` more. */
  counted(instanceId: string, before: number, ours: number): void;
};

type Seen = { commits: number; head: number };
type Poll = { promise: Promise<void>; sent: boolean };
/** A batch of some replica: what the instance had seen with it, its units, and what they changed, if that is known. */
type ToldBatch = { instanceId: string; commits: number; units: number; changes: string[] | null };

/**
 * Notices commits of other replicas: each instance has a counter in the database, which every unit moves. Polling it is
 * the truth; notifications only make the next poll come sooner. They are sent apart from the commits, since PostgreSQL
 * lets commits that notify go one after the other. What the commits changed is told beside the counter; where a part of
 * that is missing, everything of the instance counts as changed. A batch of ours that has not been answered yet is taken
 * for one of others.
 */
export function createMonitor(parts: {
  url: string;
  cacheVersions: ReturnType<typeof createCacheVersions>;
  /** Says on the connection that this process runs. */
  announce: (client: pg.Client) => Promise<void>;
  /** Another replica has written events of the instance. */
  onForeign: (instanceId: string) => void;
  /** Looks whether another build has changed the store. */
  look: (client: pg.Client) => Promise<void>;
}): Monitor {
  const { cacheVersions } = parts;
  const replica = randomUUID();
  const { seen, seenOf, missedOf, notice } = seenInstances(cacheVersions, parts.onForeign);
  let connection: Promise<pg.Client> | undefined;
  let trustedUntil = 0;
  let toNotify: NodeJS.Timeout | undefined;
  let isLookDue = true;
  let closed = false;

  async function open(): Promise<pg.Client> {
    const client = await connect(parts.url, "watch");
    client.on("notification", ({ payload }) => {
      if (payload !== replica) void poll().catch(() => undefined);
    });
    await parts.announce(client);
    await client.query(`LISTEN ${commitChannel}`);
    // Nothing is known of what happened meanwhile, not even that it is the same server.
    seen.clear();
    cacheVersions.touchAll();
    return client;
  }

  const poll = oneAtATime(ask, () => closed);

  async function ask(): Promise<void> {
    const sentAt = performance.now();
    const total = [...seen.values()].reduce((sum, { commits }) => sum + commits, 0);
    const opening = (connection ??= open());
    using late = runningTimeout(answerMs);
    try {
      const client = await within(opening, late.signal);
      const counters = await within(countersOf(client, total), late.signal);
      const { changed, asked } = missedOf(counters);
      const reported = await within(toldOf(client, asked), late.signal);
      const isTold = changed.map(({ instanceId, now }) =>
        notice(instanceId, now, reported.get(instanceId) ?? []),
      );
      // Who swaps tables moves the counters and tells nothing of it.
      if (isLookDue || isTold.includes(false)) await within(parts.look(client), late.signal);
      isLookDue = false;
      trustedUntil = sentAt + trustMs;
    } catch (error) {
      connection = undefined;
      // A connection that does not answer is not waited for, neither now nor when it is closed.
      void opening.then(end).catch(() => undefined);
      throw storeError(error);
    }
  }

  function counted(instanceId: string, before: number, ours: number): void {
    const known = seenOf(instanceId);
    if (before === known.commits) seen.set(instanceId, { ...known, commits: before + ours });
    // Others have committed meanwhile: what it was is to be asked.
    else if (before > known.commits) void poll().catch(() => undefined);
    toNotify ??= setTimeout(notify, notifyMs).unref();
  }

  function notify(): void {
    toNotify = undefined;
    void connection
      ?.then((client) => client.query("SELECT pg_notify($1, $2)", [commitChannel, replica]))
      .catch(() => undefined);
  }

  const keepPolling = async () => {
    while (!closed) {
      isLookDue = true;
      await poll().catch(() => undefined);
      await delay(pollMs, undefined, { ref: false });
    }
  };
  void keepPolling();

  return {
    isFresh: () => performance.now() < trustedUntil,
    catchUp: poll,
    counted,
    async [Symbol.asyncDispose]() {
      closed = true;
      clearTimeout(toNotify);
      await connection?.then(end).catch(() => undefined);
    },
  };
}

/** What has been seen of each instance, and what is noticed of it. */
function seenInstances(
  cacheVersions: ReturnType<typeof createCacheVersions>,
  onForeign: (instanceId: string) => void,
) {
  const seen = new Map<string, Seen>();
  const seenOf = (instanceId: string): Seen => seen.get(instanceId) ?? { commits: 0, head: 0 };

  /** @returns whether everything that has changed was told */
  function notice(instanceId: string, now: Seen, reported: readonly ToldBatch[]): boolean {
    // Batches of ours may have been answered since it was asked.
    const before = seenOf(instanceId);
    if (now.commits <= before.commits) return true;
    const missed = reported.filter(({ commits }) => commits > before.commits);
    const units = missed.reduce((sum, each) => sum + each.units, 0);
    const isWhole = units === now.commits - before.commits;
    seen.set(instanceId, now);
    if (isWhole && missed.every(({ changes }) => changes !== null)) {
      for (const { changes } of missed) cacheVersions.touchParts(instanceId, changes ?? []);
    } else {
      cacheVersions.touchInstance(instanceId);
    }
    if (now.head > before.head) onForeign(instanceId);
    return isWhole;
  }

  /** The instances that have changed, and what to ask of those that were known before. */
  function missedOf(counters: readonly { instanceId: string; now: Seen }[]) {
    const changed = counters.filter(
      ({ instanceId, now }) => now.commits > seenOf(instanceId).commits,
    );
    const known = changed.filter(({ instanceId }) => seen.has(instanceId));
    const asked = known.map(({ instanceId, now }) => {
      return { instanceId, after: seenOf(instanceId).commits, upTo: now.commits };
    });
    return { changed, asked };
  }

  return { seen, seenOf, missedOf, notice };
}

/** Does it once at a time until it is closed; a turn that has not begun yet serves everybody who asks. */
function oneAtATime(work: () => Promise<void>, isClosed: () => boolean): () => Promise<void> {
  let polls: Poll[] = [];
  return () => {
    const next = polls.find(({ sent }) => !sent);
    if (next !== undefined) return next.promise;
    const before = polls.at(-1)?.promise;
    const own: Poll = { sent: false, promise: Promise.resolve() };
    own.promise = (async () => {
      try {
        await before?.catch(() => undefined);
        // It would open a connection that nobody ends.
        if (isClosed()) throw cannotBeReached(new Error("the store is closed"));
        own.sent = true;
        await work();
      } finally {
        polls = polls.filter((each) => each !== own);
      }
    })();
    polls.push(own);
    return own.promise;
  };
}

/** The counters of all instances; none where their sum is the one that is known. */
async function countersOf(
  client: pg.Client,
  total: number,
): Promise<{ instanceId: string; now: Seen }[]> {
  const { rows } = await client.query<[string, string, string]>({
    name: "poll_commits",
    text: `SELECT c.instance_id, c.commits, coalesce(s.last, 0) FROM ${commitCounters} c
           LEFT JOIN ${sequences.name} s USING (instance_id)
           WHERE (SELECT coalesce(sum(commits), 0) FROM ${commitCounters}) <> $1`,
    values: [total],
    rowMode: "array",
  });
  return rows.map(([instanceId, commits, head]) => ({
    instanceId,
    now: { commits: Number(commits), head: Number(head) },
  }));
}

/** What batches that were not seen yet tell of themselves. Of an instance that is new to us nothing is cached. */
async function toldOf(
  client: pg.Client,
  asked: readonly { instanceId: string; after: number; upTo: number }[],
): Promise<Map<string, ToldBatch[]>> {
  if (asked.length === 0) return new Map();
  const { rows } = await client.query<[string, string, number, string[] | null]>({
    name: "poll_parts",
    text: `SELECT p.instance_id, p.commits, p.units, p.parts FROM ${commitParts} p
           JOIN unnest($1::text[], $2::bigint[], $3::bigint[]) AS k(id, after, upto)
             ON p.instance_id = k.id AND p.commits > k.after AND p.commits <= k.upto`,
    values: [
      asked.map(({ instanceId }) => instanceId),
      asked.map(({ after }) => after),
      asked.map(({ upTo }) => upTo),
    ],
    rowMode: "array",
  });
  const batches = rows.map(([instanceId, commits, units, changes]) => ({
    instanceId,
    units,
    changes,
    commits: Number(commits),
  }));
  return Map.groupBy(batches, ({ instanceId }) => instanceId);
}

function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("timeout")), { once: true });
    promise.then(resolve, reject);
  });
}

const end = (client: pg.Client): Promise<unknown> =>
  Promise.race([client.end(), delay(answerMs, undefined, { ref: false })]);
