const steps = 10;

/**
 * A signal that is aborted after a span of time, in milliseconds, in which the event loop was running. While it stands still
 * answers are not read, so a timer that fires first afterwards would blame whoever answered in time.
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
