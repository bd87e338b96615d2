import type { Transaction } from "../eventstore/transaction.ts";
import { insertRow, PendingSequence, type RowChange } from "../storage/row-change.ts";
import {
  instant,
  int,
  int64,
  json,
  optionalInstant,
  optionalText,
  type Row,
  table,
  text,
} from "../storage/table.ts";

/**
 * Work that is due after a commit (C7, X9; F17). A row stands until its work is done: whoever crashes
 * leaves it to the next.
 *
 * `position` and `id` order the jobs of one kind and key. `leaseUntil` is the epoch while nobody works on it; `token`
 * grows with every claim, so a worker that lost its lease can prove nothing any more. `failingSince` is the first
 * failure of the present row of failures. Dead jobs (`deadAt`) wait for somebody to look at them.
 */
export const jobs = table(
  "jobs",
  {
    instanceId: text(),
    id: text(),
    kind: text(),
    key: text(),
    position: int64(),
    payload: json<unknown>(),
    dueAt: instant(),
    attempts: int(),
    leaseHolder: text(),
    leaseUntil: instant(),
    token: int(),
    failingSince: optionalInstant(),
    deadAt: optionalInstant(),
    lastError: optionalText(),
    createdAt: instant(),
  },
  {
    key: ["instanceId", "id"],
    // What happens to jobs of one kind wakes the workers of no other.
    cachedBy: "kind",
    indexes: [
      { columns: ["kind", "deadAt", "dueAt", "id"] },
      { columns: ["instanceId", "kind", "key", "deadAt", "position", "id"] },
    ],
  },
);

export type JobRow = Row<typeof jobs>;

/** The lease of a job that nobody works on. */
export const free = { leaseHolder: "", leaseUntil: new Date(0) };

/** A kind of job and the shape of its payload. Names are stored: a renamed kind leaves its old jobs unworked. */
export type JobKind<P> = { name: string; payload?: P };

export const jobKind = <P>(name: string): JobKind<P> => ({ name });

/**
 * The row of a new job, to be written in the unit of the events that cause it.
 *
 * Jobs of one kind and key run one after the other, in the order of their units; without a key they run in any order.
 * The payload is stored in clear and must hold no secret.
 * NOTE: the order comes from the unit's events: a job with a key belongs into a unit that has some, or says its position.
 */
export function enqueue<P>(
  kind: JobKind<P>,
  at: {
    instanceId: string;
    id: string;
    now: Date;
    key?: string;
    dueAt?: Date;
    /** Where in the order of its key it stands, if not by the unit. */
    position?: bigint;
  },
  payload: P,
): RowChange {
  return insertRow(jobs, {
    instanceId: at.instanceId,
    id: at.id,
    kind: kind.name,
    key: at.key ?? at.id,
    position: at.position ?? new PendingSequence(0),
    payload,
    dueAt: at.dueAt ?? at.now,
    attempts: 0,
    ...free,
    token: 0,
    createdAt: at.now,
  });
}

/** A job at work. It may run again after a crash: what it does must bear to be done twice. */
export type RunningJob<P> = {
  instanceId: string;
  /** Stable over all attempts: the delivery id. */
  id: string;
  key: string;
  payload: P;
  /** 1 for the first, also after progress. */
  attempt: number;
  /** Fires when the lease is lost or the process must end: nothing more may be begun. */
  signal: AbortSignal;
  /**
   * Lets a unit commit only while this worker holds the job.
   * @throws ABORTED JOB_LEASE_LOST
   */
  fence(tx: Transaction): Promise<void>;
  /** As `fence`, and the job is done with the unit. */
  finish(tx: Transaction): Promise<void>;
};

/** `again`: a part is done and there is more; the job runs on, if given with another payload, after others that are due. */
export type JobOutcome<P> = "done" | "again" | { again: P };

/**
 * How the jobs of one kind share its slots, where some of them must not hold up others. Jobs whose keys agree up to the
 * first slash are a group.
 */
export type LaneRule = {
  /** Jobs of the kind at work at once in a process, and of one group. */
  parallel: number;
  perGroup: number;
  /** Groups of which only so many may be at work now, perhaps none. Asked before each look at what is due. */
  limits: () => ReadonlyMap<string, number>;
  /** The longest pause between two tries; without it they double up to a day. */
  longestPauseMs?: number;
  /** How long a crashed worker's job of the kind waits at most, where each of its units is fenced: a theft harms nothing. */
  leaseMs?: number;
  /** What is written with the death of a job. */
  whenDead: (job: JobRow, now: Date) => RowChange[];
};

type Work<P> = (job: RunningJob<P>) => Promise<JobOutcome<P>>;

/** Does a job, or a part of it. What it throws is a failure: the job is tried again later. */
export type JobHandler<P = unknown> = Work<P> & { lane?: LaneRule };

/** Handlers by the name of their kind. */
export type JobHandlers = Record<string, JobHandler>;

/** The entry of a handler: the one place where a stored payload gets the type that `enqueue` gave it. */
export const handle = <P>(kind: JobKind<P>, work: Work<P>, lane?: LaneRule): JobHandlers => ({
  [kind.name]: (lane === undefined ? work : Object.assign(work, { lane })) as JobHandler,
});
