import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Waits until something is so, for no longer than so many rounds of a pause and a piece of work of this process: on a busy machine these
 * take longer by as much as what is waited for. That judges what must be quick without the clock on the wall.
 *
 * @param work what is done in each round, as much like what is waited for as can be
 */
export async function withinRounds(
  what: string,
  { rounds, pauseMs }: { rounds: number; pauseMs: number },
  isSo: () => boolean | Promise<boolean>,
  work: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  for (let round = 0; !(await isSo()); round++) {
    assert.ok(round < rounds, `${what}: not within ${rounds} rounds of ${pauseMs} ms`);
    await delay(pauseMs);
    await work();
  }
}
