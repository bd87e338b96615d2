import type { UserDeps } from "../ports.ts";
import type { Refused } from "../../../authz/ports.ts";
import type { Loaded } from "../../../eventstore/eventstore.ts";
import { aggregate } from "../../../eventstore/aggregate.ts";
import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import { rowByKey } from "../../../projection/ids.ts";
import type { LoginPolicyReader } from "../../../settings/policy/login.ts";
import { deleteRows, putRow, type RowChange, updateRows } from "../../../storage/row-change.ts";
import { int64, type Row, table, text } from "../../../storage/table.ts";
import { type User, user } from "../user.ts";
import type { UserRef } from "../user-ref.ts";
import { type CheckEvent, checkEvents } from "./events.ts";
import { epoch, failureColumns, noFailures, noPasswords } from "./failures.ts";
import {
  createKnownBrowsers,
  type KnownBrowser,
  type KnownBrowsers,
  knownBrowsers,
} from "./known-browsers.ts";

/**
 * How often wrong credentials of a user were tried since the last right ones: the one place for every way in, on all
 * replicas (D51), but for browsers by which the user has logged in before: those have counts of their own
 * (`known-browsers.ts`). `version` is that of the stream of check events, `totpStep` the last time step of which a
 * one-time password counted.
 */
export const attemptCounts = table(
  "user_checks",
  {
    instanceId: text(),
    userId: text(),
    version: int64(),
    ...failureColumns(),
    totpStep: int64(),
  },
  { key: ["instanceId", "userId"] },
);

export type CheckRow = Row<typeof attemptCounts>;
type Failures = typeof noFailures;

/** Passwords and second factors are counted apart: a right password must not allow more guesses at the factor. */
export type Counter = "password" | "factor";

export type Throttling = Partial<Record<Counter, Date>>;
type Owned = { id: string; organizationId: string };

/** How an attempt came out. */
export type Judgement = { isRight: boolean; happened: CheckEvent[]; totpStep?: bigint };

/** Whether a code is right. */
export type CodeCheck = (
  at: WriteContext,
  userId: string | undefined,
  code: string,
) => Promise<boolean>;

export type Attempts = {
  /**
   * Judges one attempt, unless there is no such user, they are not active or have to wait after wrong ones: then nothing is
   * judged, and the answer is that of a wrong attempt, at the same cost to the store. The judgement counts only if
   * nothing came between, so that of attempts at the same time, on whatever replica, never more are answered than the
   * limit allows.
   *
   * What nobody can guess is not counted: then `counter` is undefined.
   * @throws RESOURCE_EXHAUSTED BUDGET_SPENT when too many wrong attempts came from the source
   * @param userId undefined where nobody was found by the name
   */
  judge<J extends Judgement>(
    at: WriteContext,
    userId: string | undefined,
    counter: Counter | undefined,
    judge: (tx: Transaction, user: User, row: CheckRow) => Promise<J | undefined>,
  ): Promise<J | undefined>;
  /** The same, where nothing else is asked. */
  isRight(...attempt: Parameters<Attempts["judge"]>): Promise<boolean>;
  /** Until when nothing is judged by browsers that are not known, because of too many wrong attempts. */
  throttling(at: { instanceId: string; now: Date }, user: Owned): Promise<Throttling>;
  /** No wrong attempt counts any more, by whatever browser. */
  forgive(user: UserRef): RowChange[];
  /** No wrong attempt at the password counts any more; those at second factors do. */
  forgivePassword(user: UserRef): RowChange[];
  removeAll(user: UserRef): RowChange[];
};

// A second factor is short: of its wrong attempts no setting allows more.
const mostFactorFailures = 10;
const shortestWaitMs = 10 * 60_000;
const longestWaitMs = 24 * 60 * 60_000;

/**
 * How long nothing is judged after so many wrong attempts: from the last one that is allowed on ten minutes, after each
 * further one twice as long, a day at most (L8). The user is not locked by it: that is for people to do.
 */
export const waitAfter = (failures: number, mostFailures = mostFactorFailures): number =>
  failures < mostFailures
    ? 0
    : Math.min(shortestWaitMs * 2 ** (failures - mostFailures), longestWaitMs);

/** Nothing follows from checks, so nothing is folded. */
export const checks = aggregate(checkEvents, undefined, () => undefined);
const both = [attemptCounts, knownBrowsers] as const;
// No user has this id.
const nobody = "";

export function createAttempts(deps: UserDeps, loginOf: LoginPolicyReader): Attempts {
  const { db, events, organizations, budgets } = deps;
  const browsers = createKnownBrowsers(deps);
  const rowOf = rowByKey(db, attemptCounts);

  async function judged<J extends Judgement>(
    at: WriteContext,
    userId: string,
    counter: Counter | undefined,
    judge: (tx: Transaction, user: User, row: CheckRow) => Promise<J | undefined>,
  ): Promise<J | undefined> {
    const ref = { instanceId: at.instanceId, userId };
    return events.transact(at, async (tx) => {
      const { state } = await tx.load(user, userId);
      if (state?.state !== "active") return undefined;
      const { organizationId } = state;
      const organization = await organizations.byId(ref.instanceId, organizationId);
      if (organization?.state !== "active") return undefined;
      tx.recognise({ personId: userId });
      const { row, loaded: stream } = await open(tx, ref, await rowOf(ref.instanceId, userId));
      const browser = await openBrowser(browsers, tx, userId);
      const counts = browser ?? row;
      const { maxPasswordAttempts } = await loginOf(ref.instanceId, organizationId);
      const most = counter === "password" ? maxPasswordAttempts : mostFactorFailures;
      if (counter !== undefined && closedUntil(counts, counter, most) > tx.now) return undefined;
      const judgement = await judge(tx, state, row);
      if (judgement === undefined) return undefined;
      const { isRight, happened, totpStep = row.totpStep } = judgement;
      tx.record(checks, stream, happened, { type: "org", id: organizationId });
      const version = row.version + BigInt(happened.length);
      const counted = countedIn(counts, counter, isRight, tx.now);
      const here = browser === undefined ? counted : {};
      tx.write(putRow(attemptCounts, { ...row, ...here, version, totpStep }));
      if (browser !== undefined) tx.write(putRow(knownBrowsers, { ...browser, ...counted }));
      return judgement;
    });
  }

  const judgeOne: Attempts["judge"] = async (at, userId, counter, judge) => {
    // Taken before anything is looked at: neither the answer nor its time tells anything else then.
    if (counter !== undefined) budgets.spend("guesses", at.source);
    const mutexKey = await mutexKeyOf(browsers, at, userId ?? nobody);
    const judgement =
      userId === undefined
        ? undefined
        : await inTurn(budgets, mutexKey, () => judged(at, userId, counter, judge));
    if (judgement?.isRight) budgets.giveBack("guesses", at.source);
    else deps.noteRefusal(refusedBy(at, userId, judgement));
    return judgement ?? spend(db, at);
  };

  return {
    judge: judgeOne,
    isRight: async (...attempt) => (await judgeOne(...attempt))?.isRight === true,
    async throttling({ instanceId, now }, { id, organizationId }) {
      const row = await rowOf(instanceId, id);
      if (row === undefined) return {};
      const { maxPasswordAttempts } = await loginOf(instanceId, organizationId);
      const password = closedUntil(row, "password", maxPasswordAttempts);
      const factor = closedUntil(row, "factor", mostFactorFailures);
      return {
        ...(password > now ? { password } : {}),
        ...(factor > now ? { factor } : {}),
      };
    },
    forgive: (ref) => both.map((counts) => updateRows(counts, ref, noFailures)),
    forgivePassword: (ref) => both.map((counts) => updateRows(counts, ref, noPasswords)),
    removeAll: (ref) => both.map((counts) => deleteRows(counts, ref)),
  };
}

/** The row and the stream, both as they must still be at the commit. */
async function open(tx: Transaction, ref: UserRef, found: CheckRow | undefined) {
  if (found !== undefined) {
    const { version, passwordFailures, factorFailures } = found;
    tx.expectRows(attemptCounts, { ...ref, version, passwordFailures, factorFailures }, 1);
    // Nothing is folded, so the version is all that is needed of a stream that may be long.
    const loaded: Loaded<undefined> = {
      id: ref.userId,
      state: undefined,
      version,
      last: undefined,
    };
    return { row: found, loaded };
  }
  tx.expectRows(attemptCounts, ref, 0);
  const loaded = await tx.load(checks, ref.userId);
  return { row: { ...ref, ...noFailures, version: loaded.version, totpStep: 0n }, loaded };
}

// What a wrong attempt costs the store: a flush.
async function spend(db: UserDeps["db"], { instanceId }: WriteContext): Promise<undefined> {
  const key = { instanceId, userId: nobody };
  const row = putRow(attemptCounts, { ...key, version: 0n, totpStep: 0n, ...noFailures });
  await db.commit({ instanceId, expect: [], claims: [], events: [], changes: [row] });
}

/** Nothing is judged where too many guess at the same. */
async function inTurn<T>(
  budgets: UserDeps["budgets"],
  mutexKey: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const release = await budgets.guessing(mutexKey);
  if (release === undefined) return undefined;
  try {
    return await work();
  } finally {
    release();
  }
}

/** The browser of the request, if it is known, as it must still be at the commit. */
async function openBrowser(
  browsers: KnownBrowsers,
  tx: Transaction,
  userId: string,
): Promise<KnownBrowser | undefined> {
  const known = await browsers.find(tx.at, userId);
  if (known === undefined) return undefined;
  const { instanceId, browserId, passwordFailures, factorFailures } = known;
  const seen = { instanceId, userId, browserId, passwordFailures, factorFailures };
  tx.expectRows(knownBrowsers, seen, 1);
  return known;
}

/** A browser that is known has a key of its own: strangers who wait do not make it wait. */
async function mutexKeyOf(
  browsers: KnownBrowsers,
  at: WriteContext,
  userId: string,
): Promise<string> {
  const known = await browsers.find(at, userId);
  return [at.instanceId, userId, ...(known === undefined ? [] : [known.browserId])].join("/");
}

/** Noted alike whatever the cause, so that nobody learns it by the time that it takes. */
const refusedBy = (
  { instanceId, service: operation, presence }: WriteContext,
  userId: string | undefined,
  judgement: Judgement | undefined,
): Refused => ({
  instanceId,
  kind: "login",
  operation,
  userId,
  presence,
  reason: userId === undefined ? "UNKNOWN" : judgement === undefined ? "CLOSED" : "WRONG",
});

function countedIn(
  { passwordFailures, passwordFailedAt, factorFailures, factorFailedAt }: Failures,
  counter: Counter | undefined,
  isRight: boolean,
  now: Date,
): Failures {
  const before = { passwordFailures, passwordFailedAt, factorFailures, factorFailedAt };
  if (counter === undefined) return before;
  const failures = isRight ? 0 : before[`${counter}Failures`] + 1;
  const failedAt = isRight ? epoch : now;
  return counter === "password"
    ? { ...before, passwordFailures: failures, passwordFailedAt: failedAt }
    : { ...before, factorFailures: failures, factorFailedAt: failedAt };
}

/** The epoch where nothing is closed. */
function closedUntil(counts: Failures, counter: Counter, most: number): Date {
  const waitMs = waitAfter(counts[`${counter}Failures`], most);
  return waitMs === 0 ? epoch : new Date(counts[`${counter}FailedAt`].getTime() + waitMs);
}
