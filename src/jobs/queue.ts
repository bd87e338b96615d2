import { aborted, DomainError } from "../errors.ts";
import { Conflict, type Database, type Expectation } from "../storage/database.ts";
import {
  and,
  asc,
  eq,
  gt,
  gte,
  isNull,
  lt,
  lte,
  not,
  or,
  parameter,
  sql,
} from "../storage/drizzle.ts";
import { deleteRows, type RowChange, type RowPart, updateRows } from "../storage/row-change.ts";
import { nextTry } from "./back-off.ts";
import { free, type JobOutcome, type JobRow, jobs, type LaneRule } from "./job.ts";

/** Where a walk over due jobs has come to. */
export type JobPosition = { dueAt: Date; id: string };

// The first of its key. Jobs at work stand in the table, so the first one has none of its key beside it.
const hasTurn = sql<boolean | number>`not exists (
  select 1 from jobs as earlier
  where earlier.instance_id = jobs.instance_id and earlier.kind = jobs.kind and earlier."key" = jobs."key"
    and earlier.dead_at is null and (earlier."position", earlier.id) < (jobs."position", jobs.id)
)`;

/** The group of a job: its key up to the first slash. */
export const groupOf = ({ key }: Pick<JobRow, "key">): string => key.split("/", 1)[0] ?? "";

/** A job that is due: whether it is the first of its key, and whether no worker has it. */
export type DueJob = { job: JobRow; hasTurn: boolean; isFree: boolean };

/** What of the due jobs is asked for. */
export type DueQuery = { kind: string; now: Date; limit: number };

/** Reads so many due jobs of a kind, dead ones and some groups left out, after a position. */
export type DueJobsReader = (
  asked: DueQuery,
  from: JobPosition | undefined,
  without: readonly string[],
) => Promise<DueJob[]>;

export function dueJobsReader(db: Database): DueJobsReader {
  const t = db.table(jobs);
  const select = () => db.read.select({ job: t, turn: hasTurn }).from(t);
  // Asked whenever a job comes and whenever one is done, nearly always from the start and for all groups: a prepared statement.
  const first = select()
    .where(
      and(
        eq(t.kind, parameter("kind")),
        isNull(t.deadAt),
        lte(t.dueAt, sql.param(parameter("now"), t.dueAt)),
      ),
    )
    .orderBy(asc(t.dueAt), asc(t.id))
    .limit(parameter("limit"))
    .prepare("due_jobs");

  const rowsAfter = (
    { kind, now, limit }: DueQuery,
    from: JobPosition | undefined,
    without: readonly string[],
  ) => {
    // "0" comes next after "/".
    const others = without.map((group) =>
      not(and(gte(t.key, `${group}/`), lt(t.key, `${group}0`)) ?? sql`false`),
    );
    // In this form the index is entered at the position; an "or" of both comparisons would be read from its start.
    const later =
      from && and(gte(t.dueAt, from.dueAt), or(gt(t.dueAt, from.dueAt), gt(t.id, from.id)));
    return select()
      .where(and(eq(t.kind, kind), isNull(t.deadAt), lte(t.dueAt, now), later, ...others))
      .orderBy(asc(t.dueAt), asc(t.id))
      .limit(limit);
  };

  return async (asked, from, without) => {
    const isUsual = from === undefined && without.length === 0;
    const rows = await (isUsual ? first.execute(asked) : rowsAfter(asked, from, without));
    return rows.map(({ job, turn }) => ({
      job,
      hasTurn: Boolean(turn),
      isFree: job.leaseUntil <= asked.now,
    }));
  };
}

/** Tells which of these kinds have a job that is due, by one query for all. */
export function dueKindsReader(
  db: Database,
  kinds: readonly string[],
): (now: Date) => Promise<string[]> {
  const t = db.table(jobs);
  const isDue = (kind: string) => sql<boolean | number>`exists (
    select 1 from ${t}
    where ${and(eq(t.kind, kind), isNull(t.deadAt), lte(t.dueAt, sql.param(parameter("now"), t.dueAt)))}
  )`;
  const due = db.read
    .select(Object.fromEntries(kinds.map((kind) => [kind, isDue(kind)])))
    .from(sql`(select 1) as one`)
    .prepare("due_kinds");
  return async (now) => {
    const [found = {}] = await due.execute({ now });
    return kinds.filter((kind) => Boolean(found[kind]));
  };
}

/**
 * Takes a job, as it was read, for a time. Of several workers that try, one gets it.
 *
 * A lease that ran out tells of a crash, which counts as a failure, so that a job that kills its process dies at last.
 * @returns the job as it is now; undefined if it has gone to another, or to the dead
 */
export async function claim(
  db: Database,
  job: JobRow,
  by: { holder: string; now: Date; until: Date; whenDead?: LaneRule["whenDead"] | undefined },
): Promise<JobRow | undefined> {
  const crashed = job.leaseUntil.getTime() !== free.leaseUntil.getTime();
  const failingSince = job.failingSince ?? (crashed ? by.now : null);
  const isOver =
    crashed &&
    failingSince !== null &&
    nextTry({ attempts: job.attempts, failingSince, now: by.now }, 0) === "dead";
  const changed: Partial<JobRow> = isOver
    ? { ...free, token: job.token + 1, deadAt: by.now, lastError: "JOB_CRASHED" }
    : {
        leaseHolder: by.holder,
        leaseUntil: by.until,
        token: job.token + 1,
        attempts: job.attempts + 1,
        failingSince,
      };
  const unchanged = {
    ...fenceOf(job),
    where: { ...fenceOf(job).where, leaseUntil: job.leaseUntil },
  };
  const more = isOver ? by.whenDead?.(job, by.now) : undefined;
  const taken = await commit(db, job, [unchanged], updateRows(jobs, keyOf(job), changed), more);
  return taken && !isOver ? { ...job, ...changed } : undefined;
}

/** Keeps a job for longer; false when it is another's. */
export const renew = (db: Database, job: JobRow, until: Date): Promise<boolean> =>
  commit(db, job, [fenceOf(job)], updateRows(jobs, keyOf(job), { leaseUntil: until }));

/** Puts a job back as it was before its claim. */
export const release = (db: Database, job: JobRow): Promise<boolean> =>
  settle(db, job, { attempts: job.attempts - 1 });

/** Ends an attempt that did its work, or a part of it. */
export function succeed(
  db: Database,
  job: JobRow,
  outcome: JobOutcome<unknown>,
  now: Date,
): Promise<boolean> {
  if (outcome === "done") return commit(db, job, [fenceOf(job)], deleteRows(jobs, keyOf(job)));
  const payload = outcome === "again" ? {} : { payload: outcome.again };
  return settle(db, job, {
    ...payload,
    dueAt: now,
    attempts: 0,
    failingSince: null,
    lastError: null,
  });
}

/** Ends an attempt that failed: the job waits, or is dead. */
export async function fail(
  db: Database,
  job: JobRow,
  error: unknown,
  at: { now: Date; random: number; lane?: LaneRule | undefined },
): Promise<Date | "dead"> {
  const failingSince = job.failingSince ?? at.now;
  const failure = { attempts: job.attempts, failingSince, now: at.now };
  const next = nextTry(failure, at.random, at.lane?.longestPauseMs);
  const lastError = error instanceof DomainError ? error.reason : "INTERNAL";
  const fate = next === "dead" ? { deadAt: at.now } : { dueAt: next };
  const more = next === "dead" ? at.lane?.whenDead(job, at.now) : undefined;
  await settle(db, job, { ...fate, failingSince, lastError }, more);
  return next;
}

/** What must hold for a worker to write in the name of a job. */
export const fenceOf = (job: JobRow) =>
  ({
    kind: "rows",
    table: jobs,
    where: { ...keyOf(job), token: job.token },
    count: 1,
  }) satisfies Expectation;

export const leaseLost = () =>
  aborted("JOB_LEASE_LOST", "another worker has taken the job over: what this one did is void");

/** Whether the worker that claimed the job so still has it. */
export async function isHeld(db: Database, job: JobRow): Promise<boolean> {
  const t = db.table(jobs);
  const [row] = await db.read
    .select({ token: t.token })
    .from(t)
    .where(and(eq(t.instanceId, job.instanceId), eq(t.id, job.id)));
  return row?.token === job.token;
}

/** A job among those of its kind, so that its workers alone hear of what happens to it. */
export const keyOf = ({ instanceId, id, kind }: JobRow) => ({ instanceId, id, kind });

// A new token, so that a renewal under way does not lease what is free again.
const settle = (
  db: Database,
  job: JobRow,
  part: RowPart<typeof jobs>,
  more?: RowChange[],
): Promise<boolean> => {
  const values = { ...free, token: job.token + 1, ...part };
  return commit(db, job, [fenceOf(job)], updateRows(jobs, keyOf(job), values), more);
};

async function commit(
  db: Database,
  { instanceId }: JobRow,
  expect: Expectation[],
  change: RowChange,
  more: RowChange[] = [],
): Promise<boolean> {
  try {
    await db.commit({ instanceId, expect, claims: [], events: [], changes: [change, ...more] });
    return true;
  } catch (error) {
    if (error instanceof Conflict) return false;
    throw error;
  }
}
