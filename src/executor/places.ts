import type { Awaitable } from "../awaitable.ts";
/** What came of asking for a place. */
export type Place = { leave: () => void } | "full" | "late";

const atOnce = 64;
const mostWaiting = 1_000;

type Queue = { taken: number; waiting: (() => void)[] };

/**
 * Bounds the calls of one target that are under way in this process: others wait in the order they came, for as long as
 * they may. So a target that hangs holds so many connections and no more, and a loop through it comes to an end.
 */
export function createPlaces(
  limits: { atOnce: number; mostWaiting: number } = { atOnce, mostWaiting },
) {
  const queues = new Map<string, Queue>();

  function leave(name: string, queue: Queue): void {
    const next = queue.waiting.shift();
    if (next !== undefined) return next();
    queue.taken -= 1;
    if (queue.taken === 0) queues.delete(name);
  }

  return {
    /** A place, at once if there is one; `late` when the time is over or the signal fires before. */
    enter(name: string, waitMs: number, signal: AbortSignal | undefined): Awaitable<Place> {
      let queue = queues.get(name);
      if (queue === undefined) queues.set(name, (queue = { taken: 0, waiting: [] }));
      const own = queue;
      const place = { leave: () => leave(name, own) };
      if (own.taken < limits.atOnce) {
        own.taken += 1;
        return place;
      }
      if (own.waiting.length >= limits.mostWaiting) return "full";
      return new Promise((resolve) => {
        const settle = (result: Place) => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", giveUp);
          resolve(result);
        };
        const take = () => settle(place);
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
