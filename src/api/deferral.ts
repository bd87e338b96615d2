import type { Awaitable } from "../awaitable.ts";
import { yieldToEventLoop } from "../yielder.ts";

/** A call that takes longer has waited: for the disk, the database or a thread. Quick ones go before it. */
export const quickMs = 1;
/** So many long calls in a row are no accident, such as a busy core. */
const longInARow = 2;

export type Defer = <R>(run: () => Awaitable<R>) => Promise<R>;

/**
 * Runs the calls of one endpoint such that long ones hold up no quick ones: where the last calls took long the next one begins after
 * whatever has arrived, and the response to a long one is written after it too. Those who wait for the same flush of a disk are answered
 * together and call again together: begun one after the other, they would hold up all others.
 */
export function createDeferral(): Defer {
  let long = 0;
  return async (run) => {
    if (long >= longInARow) await yieldToEventLoop();
    const began = performance.now();
    const result = await run();
    const isLong = performance.now() - began > quickMs;
    long = isLong ? long + 1 : 0;
    if (isLong) await yieldToEventLoop();
    return result;
  };
}
