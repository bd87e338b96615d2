import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setImmediate as turn } from "node:timers/promises";
import { threadMs } from "../../storage/thread-time.ts";
import { recordsABatch } from "./payload.ts";

// How much of the processor the commit of one unit may take at a time, while it holds others up.
const mostBlockedMs = 10;
const fewest = 30;
const [slower, faster] = [0.7, 1.5];
const resolutionMs = 2;

/** Milliseconds in which the event loop was at work, and those of them in which this thread had the processor. */
const spent = () => ({ active: performance.eventLoopUtilization().active, own: threadMs() });

export type Pace = {
  /** How many records the next unit has of so many that are left: these are cut into units of one size, none above what the pace allows. */
  records(left: number): number;
  judge(written: number): Promise<void>;
};

/**
 * How many records make a unit: as many as can be written without holding up others for long. That is measured, as the longest delay
 * of the event loop, of which only that part counts in which this thread had the processor: where other processes have it, small units
 * would hold up nobody less. Where nobody is held up units grow until flushes and ways to the store cost little.
 */
export function createPace() {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  let records = 50;
  return {
    /** Measures until it is disposed. */
    measure(): Pace & Disposable {
      delays.enable();
      let from = spent();
      return {
        records: (left) => Math.ceil(left / Math.ceil(left / Math.round(records))),
        /** Takes what was measured since the last time for that of a unit of so many records. */
        async judge(written) {
          // What came in this turn of the event loop is told in the next one.
          await turn();
          const to = spent();
          const share = Math.min((to.own - from.own) / Math.max(to.active - from.active, 1), 1);
          const blockedMs = Math.max((delays.max / 1e6 - resolutionMs) * share, 1);
          delays.reset();
          from = to;
          // Of a few nothing is learned.
          if (written < records / 2) return;
          const right = (written * mostBlockedMs) / blockedMs;
          const within = Math.min(Math.max(right, records * slower), records * faster);
          records = Math.min(Math.max(within, fewest), recordsABatch);
        },
        [Symbol.dispose]: () => void delays.disable(),
      };
    },
  };
}
