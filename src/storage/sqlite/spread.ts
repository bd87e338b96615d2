import type { Outcome } from "./apply.ts";

/** Calls that are spread begin so far apart. */
const apartMs = 1;

/**
 * Spreads calls that change something over the first half of a flush that is under way: what they change is written after it, whenever
 * they begin before. Begun at once, the calls of those who were answered together would hold up all other calls. As many as there is
 * time for begin a millisecond apart; more than that begin at once.
 */
export function createSpread() {
  let flushMs = 0;
  let until = 0;
  const waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;

  function next(): void {
    const isOver = performance.now() >= until;
    for (const begin of waiting.splice(0, isOver ? waiting.length : 1)) begin();
    timer = waiting.length > 0 ? setTimeout(next, apartMs) : undefined;
  }

  return {
    /** A batch, whose flush is taken to last as long as the one before. */
    async during(batch: Promise<Outcome>): Promise<Outcome> {
      until = performance.now() + flushMs / 2;
      const outcome = await batch;
      until = 0;
      flushMs = outcome.kind === "committed" ? outcome.flushMs : 0;
      return outcome;
    },
    /** A promise only where a call has to wait. */
    wait(): Promise<void> | undefined {
      const left = (until - performance.now()) / apartMs;
      if (left < 1) return undefined;
      if (timer === undefined) {
        timer = setTimeout(next, apartMs);
        return undefined;
      }
      if (waiting.length >= left) return undefined;
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
