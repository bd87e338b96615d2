import { setTimeout as delay } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { sequences } from "../kernel-tables.ts";
import type { createStamps } from "../stamps.ts";
import { connect } from "./connect.ts";
import { commitCounters } from "./ddl.ts";
import { storeError } from "./errors.ts";

const pollMs = 250;
const notifyMs = 20;
const answerMs = 1_000;
/** A poll is trusted this long from the moment it was sent; with the pause below, under the second of decisions B7. */
const trustMs = 700;
/** A commit seen while a batch of ours is under way may be that batch: its own answer tells, unless it is late. */
const doubtMs = 200;
const channel = "idsvc_commits";

export type Monitor = AsyncDisposable & {
  /** Whether commits of other replicas have been looked for lately: what is cached may be trusted. */
  isFresh(): boolean;
  /** Resolves when every commit that was acknowledged before the call, by any replica, counts in the stamps. */
  catchUp(): Promise<void>;
  /** A batch of ours was committed: the instance had seen `before` units, and has seen `ours` more. */
  counted(instanceId: string, before: number, ours: number): void;
};

type Seen = { commits: number; head: number };
type Poll = { promise: Promise<void>; sent: boolean; exact: boolean };

/**
 * Notices commits of other replicas: each instance has a counter in the database, which every unit moves. Polling it is
 * the truth; notifications only make the next poll come sooner. They are sent apart from the commits, since PostgreSQL
 * lets commits that notify go one after the other.
 */
export function createMonitor(parts: {
  url: string;
  stamps: ReturnType<typeof createStamps>;
  isWriting: (instanceId: string) => boolean;
  /** Another replica has written events of the instance. */
  onForeign: (instanceId: string) => void;
}): Monitor {
  const { stamps } = parts;
  const replica = randomUUID();
  const seen = new Map<string, Seen>();
  let connection: Promise<pg.Client> | undefined;
  let trustedUntil = 0;
  let polls: Poll[] = [];
  let toNotify: NodeJS.Timeout | undefined;
  let closed = false;

  async function open(): Promise<pg.Client> {
    const client = await connect(parts.url, "watch");
    client.on("notification", ({ payload }) => {
      if (payload !== replica) void poll(false).catch(() => undefined);
    });
    await client.query(`LISTEN ${channel}`);
    // Nothing is known of what happened meanwhile, not even that it is the same server.
    seen.clear();
    stamps.touchAll();
    return client;
  }

  /** One query at a time; one that has not been sent yet serves everybody who asks. */
  function poll(exact: boolean): Promise<void> {
    const next = polls.find(({ sent }) => !sent);
    if (next !== undefined) {
      next.exact ||= exact;
      return next.promise;
    }
    const before = polls.at(-1)?.promise;
    const own: Poll = { sent: false, exact, promise: Promise.resolve() };
    own.promise = (async () => {
      try {
        await before?.catch(() => undefined);
        own.sent = true;
        await ask(own);
      } finally {
        polls = polls.filter((each) => each !== own);
      }
    })();
    polls.push(own);
    return own.promise;
  }

  async function ask({ exact }: Poll): Promise<void> {
    const sentAt = performance.now();
    const total = [...seen.values()].reduce((sum, { commits }) => sum + commits, 0);
    const opening = (connection ??= open());
    const late = AbortSignal.timeout(answerMs);
    try {
      const client = await within(opening, late);
      const { rows } = await within(
        client.query<[string, string, string]>({
          name: "poll_commits",
          text: `SELECT c.instance_id, c.commits, coalesce(s.last, 0) FROM ${commitCounters} c
                 LEFT JOIN ${sequences.name} s USING (instance_id)
                 WHERE (SELECT coalesce(sum(commits), 0) FROM ${commitCounters}) <> $1`,
          values: [total],
          rowMode: "array",
        }),
        late,
      );
      for (const [instanceId, commits, head] of rows) {
        notice(instanceId, { commits: Number(commits), head: Number(head) }, exact);
      }
      trustedUntil = sentAt + trustMs;
    } catch (error) {
      connection = undefined;
      // A connection that does not answer is not waited for, neither now nor when it is closed.
      void opening.then(end).catch(() => undefined);
      throw storeError(error);
    }
  }

  function notice(instanceId: string, now: Seen, exact: boolean): void {
    const before = seen.get(instanceId) ?? { commits: 0, head: 0 };
    if (now.commits <= before.commits) return;
    if (exact || !parts.isWriting(instanceId)) return foreign(instanceId, now);
    setTimeout(() => {
      if (now.commits > (seen.get(instanceId)?.commits ?? 0)) foreign(instanceId, now);
    }, doubtMs).unref();
  }

  function foreign(instanceId: string, now: Seen): void {
    const before = seen.get(instanceId)?.head ?? 0;
    seen.set(instanceId, now);
    stamps.touchInstance(instanceId);
    if (now.head > before) parts.onForeign(instanceId);
  }

  function counted(instanceId: string, before: number, ours: number): void {
    const known = seen.get(instanceId) ?? { commits: 0, head: 0 };
    if (before > known.commits) stamps.touchInstance(instanceId);
    seen.set(instanceId, { ...known, commits: Math.max(known.commits, before + ours) });
    toNotify ??= setTimeout(notify, notifyMs).unref();
  }

  function notify(): void {
    toNotify = undefined;
    void connection
      ?.then((client) => client.query("SELECT pg_notify($1, $2)", [channel, replica]))
      .catch(() => undefined);
  }

  const keepPolling = async () => {
    while (!closed) {
      await poll(false).catch(() => undefined);
      await delay(pollMs, undefined, { ref: false });
    }
  };
  void keepPolling();

  return {
    isFresh: () => performance.now() < trustedUntil,
    catchUp: () => poll(true),
    counted,
    async [Symbol.asyncDispose]() {
      closed = true;
      clearTimeout(toNotify);
      await connection?.then(end).catch(() => undefined);
    },
  };
}

function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("timeout")), { once: true });
    promise.then(resolve, reject);
  });
}

const end = (client: pg.Client): Promise<unknown> =>
  Promise.race([client.end(), delay(answerMs, undefined, { ref: false })]);
