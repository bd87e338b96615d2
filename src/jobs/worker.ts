import type { Database } from "../storage/database.ts";
import { deleteRows } from "../storage/row-change.ts";
import { jobsHeldSince } from "./hold.ts";
import {
  type JobHandler,
  type JobHandlers,
  type JobRow,
  jobs,
  type LaneRule,
  type RunningJob,
} from "./job.ts";
import {
  claim,
  type DueJob,
  type DueJobsReader,
  dueJobsReader,
  dueKindsReader,
  fail,
  fenceOf,
  groupOf,
  isHeld,
  keyOf,
  leaseLost,
  type JobPosition,
  release,
  renew,
  succeed,
} from "./queue.ts";

/** How jobs are worked on, in one process. */
export type Pace = {
  /** Jobs of one kind at work at once. */
  parallel: number;
  /** How long a crashed worker's job waits. Longer than clocks of replicas differ, or they steal from each other. */
  leaseMs: number;
  renewMs: number;
  /** How soon jobs are seen that fall due, or that another process wrote. */
  pollMs: number;
  /** How long a stop waits for handlers before it ends them. */
  stopWithinMs: number;
};

const usualPace: Pace = {
  parallel: 8,
  leaseMs: 60_000,
  renewMs: 10_000,
  pollMs: 1_000,
  stopWithinMs: 10_000,
};

// A walk looks at so many due jobs and goes on from there the next time: one key with very many jobs, of which only the
// first may run, then costs little and hides no other key.
const pageSize = 64;
const pagesAWalk = 8;
// A query has room for so many; jobs of more groups are read and passed over.
const mostGroupsLeftOut = 100;
const lastWordMs = 1_000;

/** A failed attempt and when the next one is; or, without a job or a fate, a failure of the store. */
export type JobFailure = { error: unknown; job?: JobRow; next?: Date | "dead" };

export type WorkerParts = {
  db: Database;
  handlers: JobHandlers;
  /** Names this process, unlike any other. */
  holder: string;
  now: () => Date;
  onFailure: (failure: JobFailure) => void;
  random?: () => number;
  pace?: Partial<Pace>;
};

/**
 * Works on the stored jobs of the kinds that have a handler, at least once each, beside workers of other processes.
 *
 * Each kind has slots of its own, so that a slow one holds up no other. While jobs are held (hold.ts) none is begun.
 * Disposing begins nothing more, waits for the handlers at work, then fires their signals; a job that does not end is
 * another's when its lease has run out.
 */
export function startJobWorker(parts: WorkerParts): AsyncDisposable {
  const { db } = parts;
  const pace = { ...usualPace, ...parts.pace };
  const ending = new AbortController();
  let held = true;
  const dueJobs = dueJobsReader(db);
  const lanes = new Map(
    Object.entries(parts.handlers).map(([kind, handler]) => {
      const laneParts = { ...parts, kind, handler, pace, dueJobs, ending: ending.signal };
      return [kind, createLane({ ...laneParts, isHeld: () => held })];
    }),
  );
  const dueKinds = dueKindsReader(db, [...lanes.keys()]);
  // Nearly always nothing is due: that is one question, and not one of each kind, all at once.
  const poll = async () => {
    try {
      held = (await jobsHeldSince(db)) !== undefined;
      if (held) return;
      for (const kind of await dueKinds(parts.now())) lanes.get(kind)?.wake();
    } catch (error) {
      parts.onFailure({ error });
    }
  };

  // A unit that enqueues may have no events, as those that deliver some; of other processes only events are told.
  const forgetOwn = db.onInsert(jobs, ({ kind }) => lanes.get(String(kind))?.wake());
  // Most commits enqueue nothing: the cache version of the table tells, and of its part which kind it was.
  const [dependencies, versions] = [[jobs], new Map<string, number>()];
  const forget = db.onCommit((instanceId) => {
    const version = db.cacheVersion(instanceId, dependencies);
    if (version === versions.get(instanceId)) return;
    versions.set(instanceId, version);
    lanes.forEach((lane) => lane.heard(instanceId));
  });
  let polling = poll();
  const timer = setInterval(() => void (polling = poll()), pace.pollMs).unref();

  return {
    async [Symbol.asyncDispose]() {
      forgetOwn();
      forget();
      clearInterval(timer);
      const stopped = Promise.all([polling, ...[...lanes.values()].map((lane) => lane.stop())]);
      if (await within(pace.stopWithinMs, stopped)) return;
      ending.abort();
      await within(lastWordMs, stopped);
    },
  };
}

type LaneParts = WorkerParts & {
  kind: string;
  handler: JobHandler;
  pace: Pace;
  dueJobs: DueJobsReader;
  ending: AbortSignal;
  isHeld: () => boolean;
};

/** How many jobs of each group are at work, and how many more of it may be begun now. */
function groupsOf(rule: LaneRule | undefined) {
  const inGroup = new Map<string, number>();

  function count(group: string, by: number): void {
    if (rule === undefined) return;
    const now = (inGroup.get(group) ?? 0) + by;
    if (now === 0) inGroup.delete(group);
    else inGroup.set(group, now);
  }

  /** How many more of each group may be begun now. */
  function room() {
    if (rule === undefined) return { full: () => [], take: () => true };
    const limits = rule.limits();
    const taken = new Map(inGroup);
    const left = (group: string) =>
      Math.min(limits.get(group) ?? rule.perGroup, rule.perGroup) - (taken.get(group) ?? 0);
    return {
      full: () =>
        [...new Set([...limits.keys(), ...taken.keys()])].filter((each) => left(each) <= 0),
      take(group: string): boolean {
        if (left(group) <= 0) return false;
        taken.set(group, (taken.get(group) ?? 0) + 1);
        return true;
      },
    };
  }

  return { count, room };
}

function createLane(parts: LaneParts) {
  const { db, kind, dueJobs } = parts;
  const rule = parts.handler.lane;
  const pace = paceOf(parts.pace, rule);
  const parallel = rule?.parallel ?? pace.parallel;
  const running = new Map<string, Promise<void>>();
  const groups = groupsOf(rule);
  const dependencies = [{ table: jobs, part: kind }];
  const versions = new Map<string, number>();
  let position: JobPosition | undefined;
  let walking: Promise<void> | undefined;
  let woken = false;
  let stopped = false;

  function wake(): void {
    if (stopped) return;
    woken = true;
    // In a moment: a commit may wake more than once.
    walking ??= Promise.resolve()
      .then(walkWhileWoken)
      .catch((error: unknown) => parts.onFailure({ error }))
      .finally(() => {
        walking = undefined;
        if (woken) wake();
      });
  }

  /** A commit of the instance touched jobs, perhaps of this kind. */
  function heard(instanceId: string): void {
    const version = db.cacheVersion(instanceId, dependencies);
    if (version === versions.get(instanceId)) return;
    versions.set(instanceId, version);
    wake();
  }

  async function walkWhileWoken(): Promise<void> {
    while (woken && !stopped) {
      woken = false;
      await walk();
    }
  }

  async function walk(): Promise<void> {
    for (let page = 0; page < pagesAWalk; page++) {
      const vacant = parallel - running.size;
      if (stopped || parts.isHeld() || vacant === 0) return;
      const room = groups.room();
      const asked = { kind, now: parts.now(), limit: pageSize };
      const seen = await dueJobs(asked, position, room.full().slice(0, mostGroupsLeftOut));
      const ended = await endedHolders(parts, seen, asked.now);
      const ready = readyAmong(seen, ended, running).filter((job) => room.take(groupOf(job)));
      await Promise.all(ready.slice(0, vacant).map(begin));
      // With more ready than vacant slots, the same page is looked at again.
      if (ready.length > vacant) return;
      position = seen.length < pageSize ? undefined : seen.at(-1)?.job;
      if (position === undefined) return;
    }
  }

  async function begin(found: JobRow): Promise<void> {
    const now = parts.now();
    const until = new Date(now.getTime() + pace.leaseMs);
    const by = { holder: parts.holder, now, until, whenDead: rule?.whenDead };
    const job = await claim(db, found, by);
    if (job === undefined) return;
    const group = groupOf(job);
    groups.count(group, 1);
    const run = work({ ...parts, pace }, job)
      .catch((error: unknown) => parts.onFailure({ error, job }))
      .finally(() => {
        running.delete(nameOf(job));
        groups.count(group, -1);
        wake();
      });
    running.set(nameOf(job), run);
  }

  return {
    wake,
    heard,
    async stop(): Promise<void> {
      stopped = true;
      await walking;
      await Promise.all(running.values());
    },
  };
}

/** The jobs among these that may be begun: those whose turn it is and that nobody works on. */
const readyAmong = (
  seen: readonly DueJob[],
  ended: ReadonlySet<string>,
  running: ReadonlyMap<string, unknown>,
): JobRow[] =>
  seen
    // A job whose lease ran out here while the process stood still is at work all the same.
    .filter(
      ({ job, hasTurn, isFree }) =>
        hasTurn && (isFree || ended.has(job.leaseHolder)) && !running.has(nameOf(job)),
    )
    .map(({ job }) => job);

/** Those who hold jobs among these and have ended, whose leases need not be waited for. */
async function endedHolders(
  { db, holder: own }: LaneParts,
  seen: readonly DueJob[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const holders = seen.flatMap(({ job }) => (job.leaseUntil > now ? [job.leaseHolder] : []));
  const others = [...new Set(holders)].filter((holder) => holder !== own);
  return new Set(others.length === 0 ? [] : await db.endedOf(others));
}

function paceOf(pace: Pace, rule: LaneRule | undefined): Pace {
  const { leaseMs = Infinity } = rule ?? {};
  if (leaseMs >= pace.leaseMs) return pace;
  return { ...pace, leaseMs, renewMs: Math.min(pace.renewMs, leaseMs / 5) };
}

const nameOf = ({ instanceId, id }: JobRow): string => `${instanceId}/${id}`;

/** One attempt at a claimed job, to its end in the store. */
async function work(parts: LaneParts, job: JobRow): Promise<void> {
  const { db, pace, ending } = parts;
  const lost = new AbortController();
  let leaseEnd = job.leaseUntil;

  async function keep(): Promise<void> {
    const until = new Date(parts.now().getTime() + pace.leaseMs);
    const isOurs = await renew(db, job, until).catch((error: unknown) => {
      parts.onFailure({ error, job });
      // The store cannot be reached: the job is ours for as long as was promised.
      return parts.now() < leaseEnd ? undefined : false;
    });
    if (isOurs === false) lost.abort(leaseLost());
    if (isOurs) leaseEnd = until;
  }
  const timer = setInterval(() => void keep(), pace.renewMs).unref();

  try {
    const outcome = await parts.handler(attemptAt(db, job, AbortSignal.any([lost.signal, ending])));
    clearInterval(timer);
    // False when it was finished in a unit of its own, or lost to another: then there is nothing to say.
    await succeed(db, job, outcome, parts.now());
  } catch (error) {
    clearInterval(timer);
    if (lost.signal.aborted) return;
    if (ending.aborted) {
      await release(db, job);
      return;
    }
    const random = (parts.random ?? Math.random)();
    const { lane } = parts.handler;
    const next = await fail(db, job, error, { now: parts.now(), random, lane });
    parts.onFailure({ error, job, next });
  }
}

function attemptAt(db: Database, job: JobRow, signal: AbortSignal): RunningJob<unknown> {
  const fence: RunningJob<unknown>["fence"] = async (tx) => {
    if (!(await isHeld(db, job))) throw leaseLost();
    const { table, where, count } = fenceOf(job);
    tx.expectRows(table, where, count);
  };
  const { instanceId, id, key, payload, attempts: attempt } = job;
  return {
    instanceId,
    id,
    key,
    payload,
    attempt,
    signal,
    fence,
    async finish(tx) {
      await fence(tx);
      tx.write(deleteRows(jobs, keyOf(job)));
    },
  };
}

/** Whether something ends in this time. */
async function within(timeMs: number, ending: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeMs);
  });
  try {
    return await Promise.race([ending.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
