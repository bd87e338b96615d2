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

// Callers that go on in one iteration of the event loop begin at most so long after the first of them.
const sharedMs = 0.25;
// Where many wait, this part of them goes on in one iteration, at most so long after the first of them.
const partOfMany = 1 / 8;
const sharedByManyMs = 1;
let waiting = 0;
/** When the first caller of this iteration went on, and how many more of that part may. */
let iteration: { began: number; left: number } | undefined;

/**
 * Yields to the event loop: the caller goes on after whatever has arrived meanwhile. Callers that yield together go on in order, in one
 * iteration as long as the first of them went on less than a quarter of a millisecond ago, and the others in the next. Of many that
 * wait an eighth goes on in one iteration, for a millisecond at most: iterations cost too.
 */
export const yieldToEventLoop = (): Promise<void> =>
  new Promise((resolve) => {
    waiting += 1;
    // Where an event is being handled the first is called in the same iteration, before the system is asked what has arrived.
    setImmediate(() => setImmediate(goOn, resolve));
  });

function goOn(resolve: () => void): void {
  if (iteration === undefined) {
    iteration = { began: performance.now(), left: waiting * partOfMany };
    setImmediate(() => (iteration = undefined));
  } else {
    const mostMs = iteration.left > 0 ? sharedByManyMs : sharedMs;
    if (performance.now() - iteration.began > mostMs) {
      setImmediate(goOn, resolve);
      return;
    }
  }
  iteration.left -= 1;
  waiting -= 1;
  resolve();
}
