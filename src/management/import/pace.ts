import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as turn } from "node:timers/promises";

// How long others may be held up by the commit of one unit.
const mostBlockedMs = 10;
const [fewest, most] = [30, 500];
const [slower, faster] = [0.7, 1.2];
const resolutionMs = 2;

export type Pace = { records(): number; judge(written: number): Promise<void> };

/**
 * How many records make a unit: as many as can be written without holding up others for long. Where the store writes in
 * this process that is measured, as the longest delay of the event loop; where it writes elsewhere nobody is held up, and
 * units grow until flushes and ways to the store cost little.
 */
export function createPace() {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  let records = 50;
  return {
    /** Measures until it is disposed. */
    measure(): Pace & Disposable {
      delays.enable();
      return {
        records: () => Math.round(records),
        /** Takes what was measured since the last time for that of a unit of so many records. */
        async judge(written) {
          // What came in this turn of the event loop is told in the next one.
          await turn();
          const blockedMs = Math.max(delays.max / 1e6 - resolutionMs, 1);
          delays.reset();
          // Of a rest nothing is learned.
          if (written < Math.round(records)) return;
          const factor = Math.min(Math.max(mostBlockedMs / blockedMs, slower), faster);
          records = Math.min(Math.max(records * factor, fewest), most);
        },
        [Symbol.dispose]: () => void delays.disable(),
      };
    },
  };
}
