import { threadMs } from "../../src/storage/thread-time.ts";

/**
 * Measures how long this thread works without coming back to its event loop, as processor time of the thread: other work of the
 * machine does not count. It turns the event loop until it is disposed.
 */
export function measureHolds(): Disposable & { longestMs(): number } {
  let longest = 0;
  let last = threadMs();
  let timer: NodeJS.Immediate | undefined;
  const note = () => {
    const now = threadMs();
    longest = Math.max(longest, now - last);
    last = now;
    return longest;
  };
  const look = () => {
    note();
    timer = setImmediate(look);
  };
  timer = setImmediate(look);
  return {
    longestMs: note,
    [Symbol.dispose]: () => clearImmediate(timer),
  };
}
