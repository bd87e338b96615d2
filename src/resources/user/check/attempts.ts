import type { Loaded } from "../../../eventstore/eventstore.ts";
import { aggregate } from "../../../eventstore/aggregate.ts";
import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import { rowByKey } from "../../../projection/ids.ts";
import type { Deps } from "../../../projection/module.ts";
import type { LoginPolicyReader } from "../../../settings/login/index.ts";
import type { Database } from "../../../storage/database.ts";
import { deleteRows, putRow, type RowChange, updateRows } from "../../../storage/row-change.ts";
import { instant, int, int64, type Row, table, text } from "../../../storage/table.ts";
import { type User, user } from "../user.ts";
import { type CheckEvent, checkEvents } from "./events.ts";
import { createTurns } from "./turns.ts";

/**
 * How often wrong credentials of a user were tried since the last right ones: the one place for every way in, on all
 * replicas (abuse case D51). `version` is that of the stream of check events, `totpStep` the last time step of which a
 * one-time password counted.
 */
export const attemptCounts = table(
  "user_checks",
  {
    instanceId: text(),
    userId: text(),
    version: int64(),
    passwordFailures: int(),
    passwordFailedAt: instant(),
    factorFailures: int(),
    factorFailedAt: instant(),
    totpStep: int64(),
  },
  { key: ["instanceId", "userId"] },
);

export type CheckRow = Row<typeof attemptCounts>;
type UserRef = { instanceId: string; userId: string };

/** Passwords and second factors are counted apart: a right password must not allow more guesses at the factor. */
export type Counter = "password" | "factor";

/** How an attempt came out. */
export type Judgement = { isRight: boolean; happened: CheckEvent[]; totpStep?: bigint };

export type Attempts = {
  /**
   * Judges one attempt, unless there is no such user, he is not active or has to wait after wrong ones: then nothing is
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
  /** No wrong attempt at the password counts any more; those at second factors do. */
  forgivePassword(user: UserRef): RowChange;
  removeAll(user: UserRef): RowChange;
};

// A second factor is short: of its wrong attempts no setting allows more.
const mostFactorFailures = 10;
const shortestWaitMs = 10 * 60_000;
const longestWaitMs = 24 * 60 * 60_000;
// Who waits longer than these has gone.
const mostWaiting = 256;

/**
 * How long nothing is judged after so many wrong attempts: from the last one that is allowed on ten minutes, after each
 * further one twice as long, a day at most (spec oidc, Login). The user is not locked by it: that is for people to do.
 */
export const waitAfter = (failures: number, mostFailures = mostFactorFailures): number =>
  failures < mostFailures
    ? 0
    : Math.min(shortestWaitMs * 2 ** (failures - mostFailures), longestWaitMs);

/** Nothing follows from checks, so nothing is folded. */
export const checks = aggregate(checkEvents, undefined, () => undefined);
const epoch = new Date(0);
const noPasswords = { passwordFailures: 0, passwordFailedAt: epoch };
const none = { ...noPasswords, factorFailures: 0, factorFailedAt: epoch };
// No user has this id.
const nobody = "";

export function createAttempts(
  { db, events, organizations, budgets }: Deps,
  loginOf: LoginPolicyReader,
): Attempts {
  const rowOf = rowByKey(db, attemptCounts);
  const inTurn = turnsOf(db);

  /** The row and the stream, both as they must still be at the commit. */
  async function open(tx: Transaction, ref: UserRef) {
    const row = await rowOf(ref.instanceId, ref.userId);
    if (row !== undefined) {
      const { version, passwordFailures, factorFailures } = row;
      tx.expectRows(attemptCounts, { ...ref, version, passwordFailures, factorFailures }, 1);
      // Nothing is folded, so the version is all that is needed of a stream that may be long.
      const loaded: Loaded<undefined> = {
        id: ref.userId,
        state: undefined,
        version,
        last: undefined,
      };
      return { row, loaded };
    }
    tx.expectRows(attemptCounts, ref, 0);
    const loaded = await tx.load(checks, ref.userId);
    return { row: { ...ref, ...none, version: loaded.version, totpStep: 0n }, loaded };
  }

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
      const { row, loaded: stream } = await open(tx, ref);
      const { maxPasswordAttempts } = await loginOf(ref.instanceId, organizationId);
      const most = counter === "password" ? maxPasswordAttempts : mostFactorFailures;
      if (mustWait(row, counter, most, tx.now)) return undefined;
      const judgement = await judge(tx, state, row);
      if (judgement === undefined) return undefined;
      const { isRight, happened, totpStep = row.totpStep } = judgement;
      tx.record(checks, stream, happened, { type: "org", id: organizationId });
      const version = row.version + BigInt(happened.length);
      const counted = countedIn(row, counter, isRight, tx.now);
      tx.write(putRow(attemptCounts, { ...counted, version, totpStep }));
      return judgement;
    });
  }

  // What a wrong attempt costs the store: a flush.
  async function spend({ instanceId }: WriteContext): Promise<undefined> {
    const row = putRow(attemptCounts, {
      ...{ instanceId, userId: nobody, version: 0n, totpStep: 0n },
      ...none,
    });
    await db.commit({ instanceId, expect: [], claims: [], events: [], changes: [row] });
  }

  return {
    async judge(at, userId, counter, judge) {
      // Taken before anything is looked at: neither the answer nor its time tells anything else then.
      if (counter !== undefined) budgets.spend("guesses", at.source);
      const judgement =
        userId === undefined
          ? undefined
          : await inTurn(`${at.instanceId}/${userId}`, () => judged(at, userId, counter, judge));
      if (judgement?.isRight) budgets.giveBack("guesses", at.source);
      return judgement ?? spend(at);
    },
    forgivePassword: (ref) => updateRows(attemptCounts, ref, noPasswords),
    removeAll: (ref) => deleteRows(attemptCounts, ref),
  };
}

// One order for all who check credentials in this process.
const turns = new WeakMap<Database, ReturnType<typeof createTurns>>();

function turnsOf(db: Database): ReturnType<typeof createTurns> {
  const known = turns.get(db) ?? createTurns(mostWaiting);
  turns.set(db, known);
  return known;
}

function countedIn(
  row: CheckRow,
  counter: Counter | undefined,
  isRight: boolean,
  now: Date,
): CheckRow {
  if (counter === undefined) return row;
  const failures = isRight ? 0 : row[`${counter}Failures`] + 1;
  const failedAt = isRight ? epoch : now;
  return counter === "password"
    ? { ...row, passwordFailures: failures, passwordFailedAt: failedAt }
    : { ...row, factorFailures: failures, factorFailedAt: failedAt };
}

function mustWait(row: CheckRow, counter: Counter | undefined, most: number, now: Date): boolean {
  if (counter === undefined) return false;
  const waitMs = waitAfter(row[`${counter}Failures`], most);
  // A clock that is behind that of the last attempt makes nobody wait who need not.
  return waitMs > 0 && now.getTime() - row[`${counter}FailedAt`].getTime() < waitMs;
}
