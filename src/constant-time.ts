import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { type Awaitable, whenKnown } from "./awaitable.ts";

export type Outcome = boolean | { isRight: boolean };

/** Tells what came of something at times that do not depend on what was found. */
export type ConstantTime = {
  /** Delays wrong outcomes; right ones wait for nothing. Of several checks at once, `count` says how many. */
  refusals<T extends Outcome>(work: () => Promise<T>, count?: number): Promise<T>;
  refusals<T extends Outcome>(work: () => Awaitable<T>, count?: number): Awaitable<T>;
  /** Delays every outcome, errors too. */
  always<T>(work: () => Promise<T>): Promise<T>;
};

/** What tells the time, in milliseconds, and waits for so long. */
export type Clock = { now(): number; wait(ms: number): Promise<unknown> };

const wallClock: Clock = { now: () => performance.now(), wait: (ms) => delay(ms) };
const remembered = 64;
const mostMs = 2_000;
// Of works inside of each other the outermost decides when its caller hears of it.
const outer = new AsyncLocalStorage<true>();

/**
 * For checks of which the time would tell who exists: what is read and written for somebody, and not for nobody, takes some
 * milliseconds more, and much more on a busy machine (D49, D50; J13). Outcomes are told at full steps
 * of time: half as long again as the longest of the last works, at least `leastMs`, at most two seconds, doubled from one
 * to the next.
 */
export function constantTime(leastMs: number, clock = wallClock): ConstantTime {
  const recent: number[] = [];
  let next = 0;

  function wait(begin: number, count = 1): Promise<unknown> {
    const took = clock.now() - begin;
    recent[next++ % remembered] = took / count;
    const longest = Math.max(...recent) * 1.5;
    let step = leastMs;
    while (step < longest && step < mostMs) step = Math.min(2 * step, mostMs);
    step *= count;
    return clock.wait(step - (took % step));
  }

  return {
    refusals<T extends Outcome>(work: () => Awaitable<T>, count = 1): Awaitable<T> {
      if (outer.getStore() === true) return work();
      const begin = clock.now();
      return whenKnown(outer.run(true, work), (outcome) => {
        const isRight = typeof outcome === "boolean" ? outcome : outcome.isRight;
        return isRight ? outcome : wait(begin, count).then(() => outcome);
      });
    },

    async always(work) {
      if (outer.getStore() === true) return work();
      const begin = clock.now();
      try {
        return await outer.run(true, work);
      } finally {
        await wait(begin);
      }
    },
  };
}
