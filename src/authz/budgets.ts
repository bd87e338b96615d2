import { resourceExhausted } from "../errors.ts";
import { createKeyedMutex, type KeyedMutex } from "../eventstore/keyed-mutex.ts";
import { createBuckets, type ShareBuckets, unshared, type Window } from "./buckets.ts";
import { isNearby, nearbyFactor } from "./source.ts";

/**
 * What one source may cost (J12): wrong passwords and codes; codes and mails that it has sent; registrations; requests
 * to authorize, log-ins begun and device requests; calls that are refused because they prove nothing.
 */
export type BudgetName = "guesses" | "messages" | "registrations" | "flows" | "unauthenticated";

/** How many of each a source has in the named time; 0 for no limit. */
export type BudgetSizes = Readonly<Record<BudgetName, number>>;

/** How many connections of one source may be open at once; 0 for no limit. */
export type ConnectionBudget = Readonly<{ connections: number }>;

/** How many codes and mails may go to one recipient, and be asked for by one person, in an hour; 0 for no limit. */
export type PeopleBudgets = Readonly<{ recipientMessages: number; senderMessages: number }>;

export type Budgets = {
  /** Counted in the store, by those who send. */
  readonly ofPeople: PeopleBudgets;
  /**
   * Takes one from the budget of a source. Work of the service itself has no source and no budget.
   * @throws RESOURCE_EXHAUSTED BUDGET_SPENT
   */
  spend(budget: BudgetName, source: string | undefined): void;
  /** Puts back what was not used: a password that was right. */
  giveBack(budget: BudgetName, source: string | undefined): void;
  /** Guesses at one person are judged one after the other, whichever part of this process is asked. */
  guessing: KeyedMutex;
  /** Whether a source may have one more connection, beside so many that are open. */
  mayConnect(source: string, open: number): boolean;
  /** How often each budget refused. */
  refusals(): ReadonlyMap<BudgetName | "connections", number>;
};

// Who waits longer than for so many guesses has gone.
const mostWaiting = 256;
const minute = 60;
const hour = 60 * minute;

/** The times that the sizes are of; guesses are bounded over an hour too, at ten times the size of a minute. */
const windows: Record<BudgetName, (size: number) => Window[]> = {
  guesses: (size) => [
    { size, seconds: minute },
    { size: size * 10, seconds: hour },
  ],
  messages: (size) => [{ size, seconds: hour }],
  registrations: (size) => [{ size, seconds: hour }],
  flows: (size) => [{ size, seconds: minute }],
  unauthenticated: (size) => [{ size, seconds: minute }],
};

const names = Object.keys(windows) as BudgetName[];

/** The budgets of this process, or of those that serve together. */
export function createBudgets(
  sizes: BudgetSizes & PeopleBudgets & ConnectionBudget,
  share: ShareBuckets = unshared,
): Budgets {
  const refused = new Map<BudgetName | "connections", number>(
    [...names, "connections" as const].map((name) => [name, 0]),
  );
  const count = (name: BudgetName | "connections") =>
    refused.set(name, (refused.get(name) ?? 0) + 1);
  const buckets = new Map(
    names
      .filter((name) => sizes[name] > 0)
      .map((name) => [
        name,
        {
          usual: share(name, createBuckets(windows[name](sizes[name]))),
          nearby: share(`${name} nearby`, createBuckets(windows[name](sizes[name] * nearbyFactor))),
        },
      ]),
  );
  const bucketsOf = (name: BudgetName, source: string) =>
    buckets.get(name)?.[isNearby(source) ? "nearby" : "usual"];

  return {
    ofPeople: sizes,
    spend(name, source) {
      if (source === undefined) return;
      const waitSeconds = bucketsOf(name, source)?.take(source) ?? 0;
      if (waitSeconds === 0) return;
      count(name);
      throw budgetSpent(name, inWords[name], waitSeconds);
    },
    giveBack(name, source) {
      if (source !== undefined) bucketsOf(name, source)?.giveBack(source);
    },
    guessing: createKeyedMutex({ most: mostWaiting }),
    mayConnect(source, open) {
      const most = sizes.connections * (isNearby(source) ? nearbyFactor : 1);
      if (most === 0 || open < most) return true;
      count("connections");
      return false;
    },
    refusals: () => refused,
  };
}

const inWords: Record<BudgetName, string> = {
  guesses: "wrong passwords and codes came from this address",
  messages: "codes and mails were asked for from this address",
  registrations: "accounts were registered from this address",
  flows: "log-ins were begun from this address",
  unauthenticated: "calls without valid credentials came from this address",
};

/** @param what of which there were too many, in words */
export const budgetSpent = (budget: string, what: string, retryAfterSeconds: number) =>
  resourceExhausted("BUDGET_SPENT", `too many ${what}: try again later`, {
    metadata: { budget },
    retryAfterSeconds,
  });
