const steps = 10;

/**
 * A signal that is aborted once the event loop has run for `ms` milliseconds. While the loop stands still no answer is read,
 * and a plain timer would fire before those that arrived in time: a pause counts as a tenth of `ms` at most.
 */
export function runningTimeout(ms: number): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  let left = steps;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    timer = setTimeout(() => {
      left -= 1;
      if (left > 0) wait();
      else controller.abort();
    }, ms / steps).unref();
  };
  wait();
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}
