import module from "node:module";
import { setFlagsFromString } from "node:v8";

/**
 * How the heap of a process that serves grows, from here on: it is cleaned when it has doubled, and nothing is made among old
 * objects because its like once lived long (decision 0103).
 *
 * V8 takes no code that was compiled under other flags: those of the command line make it refuse what Node brings for its own modules,
 * and a start under them cleans a heap that only grows. What was compiled for the start is kept before, as that is
 * what the next one finds.
 */
export function growSlowly(): void {
  module.flushCompileCache();
  for (const flag of heapFlags) setFlagsFromString(flag);
}

/** The same for a process that begins with them. */
export const heapFlags = ["--heap-growing-percent=100", "--no-allocation-site-pretenuring"];
