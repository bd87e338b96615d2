import type { Awaitable } from "../awaitable.ts";

/** What came of asking for a permit. */
export type Permit = { release: () => void } | "full" | "late";

const atOnce = 64;
const mostWaiting = 1_000;

type Queue = { taken: number; waiting: (() => void)[] };

/**
 * Semaphores by key: they bound the calls of one target that are under way in this process: others wait in the order they came, for as long as
 * they may. So a target that hangs holds so many connections and no more, and a loop through it comes to an end.
 */
export function createSemaphores(
  limits: { atOnce: number; mostWaiting: number } = { atOnce, mostWaiting },
) {
  const queues = new Map<string, Queue>();

  function release(name: string, queue: Queue): void {
    const next = queue.waiting.shift();
    if (next !== undefined) return next();
    queue.taken -= 1;
    if (queue.taken === 0) queues.delete(name);
  }

  return {
    /** A permit, at once if there is one; `late` when the time is over or the signal fires before. */
    acquire(key: string, waitMs: number, signal: AbortSignal | undefined): Awaitable<Permit> {
      let queue = queues.get(key);
      if (queue === undefined) queues.set(key, (queue = { taken: 0, waiting: [] }));
      const own = queue;
      const permit = { release: () => release(key, own) };
      if (own.taken < limits.atOnce) {
        own.taken += 1;
        return permit;
      }
      if (own.waiting.length >= limits.mostWaiting) return "full";
      return new Promise((resolve) => {
        const settle = (result: Permit) => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", giveUp);
          resolve(result);
        };
        const take = () => settle(permit);
        const giveUp = () => {
          const at = own.waiting.indexOf(take);
          if (at === -1) return;
          own.waiting.splice(at, 1);
          settle("late");
        };
        const timer = setTimeout(giveUp, waitMs);
        own.waiting.push(take);
        signal?.addEventListener("abort", giveUp, { once: true });
        if (signal?.aborted) giveUp();
      });
    },
  };
}
