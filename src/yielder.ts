import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";

// Whoever calls meanwhile waits for so much of the work at most, beside what a commit takes.
const sliceMs = 3;
// A turn of the event loop that takes longer than this had others at work in it.
const idleTurnMs = 0.3;
// Of the time between two slices in which others were at work, so much more is left to them, up to one slice.
const courtesy = 1;

/**
 * Yields the event loop to others in the middle of long work. Nothing is waited for while nobody else works; where others
 * do, they get the time that they need and as much again.
 */
export function createYielder() {
  let from = performance.now();
  return {
    /** Goes on at once until a slice is used up. */
    async yieldIfDue(): Promise<void> {
      const now = performance.now();
      if (now - from < sliceMs) return;
      await turn();
      const others = performance.now() - now;
      if (others > idleTurnMs) await delay(Math.min(others * courtesy, sliceMs));
      from = performance.now();
    },
  };
}

// Those who begin in the same turn begin no later in it than this.
const sharedMs = 1;
/** When the first of this turn began. */
let turnBegan: number | undefined;

/**
 * Gives a part of long work a turn of the event loop of its own: whatever has arrived is answered before. Parts that begin together share
 * a turn, the first of them for a millisecond.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(begin, resolve);
  });

function begin(resolve: () => void): void {
  if (turnBegan === undefined) {
    turnBegan = performance.now();
    setImmediate(() => (turnBegan = undefined));
  } else if (performance.now() - turnBegan > sharedMs) {
    setImmediate(begin, resolve);
    return;
  }
  resolve();
}
