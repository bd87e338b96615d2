import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";

const lookEveryMs = 1_000;
// The part of a second for which the event loop of an idle service is at work, at most.
const idleUtilization = 0.05;
const idleSeconds = 10;
// V8 looks every eight seconds whether it may give memory back.
const givingSeconds = 10;

/**
 * Gives memory back to the system while nobody calls: after the start, and after a load in which V8 has collected all of the heap.
 *
 * V8 keeps the young generation as large as a start or a load has made it, and shrinks it only where it takes a process for one that
 * allocates little; it takes one that has hardly been collected for one that allocates much. With `--optimize-for-size` it collects
 * whatever it allocates, step by step, and gives free pages back. The flag is set for some seconds and no longer than nobody calls, as
 * a load would be collected too often (decision 0382).
 */
export function giveBackWhenIdle(): void {
  let before = performance.eventLoopUtilization();
  let idle = 0;
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const wasGiving = isGiving(idle);
    idle = utilization < idleUtilization ? idle + 1 : 0;
    if (isGiving(idle) === wasGiving) return;
    setFlagsFromString(wasGiving ? "--no-optimize-for-size" : "--optimize-for-size");
  }, lookEveryMs).unref();
}

const isGiving = (seconds: number): boolean =>
  seconds >= idleSeconds && seconds < idleSeconds + givingSeconds;
