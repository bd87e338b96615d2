/** Has what was noted in memory written a while after it was noted. */
export type DeferredWrite = AsyncDisposable & {
  /** A write begins within the time, however often it is asked for before. */
  ask(): void;
};

/**
 * Writes by `write` once `afterMs` have passed since it was asked for, one write after the other; disposing writes what is left. A
 * process that is killed loses what was noted in the time.
 *
 * @param write must not fail
 */
export function deferredWrite(write: () => Promise<void>, afterMs: number): DeferredWrite {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  const begin = (): Promise<void> => {
    timer = undefined;
    return write();
  };
  return {
    ask: () => {
      timer ??= setTimeout(() => void (writing = writing.then(begin)), afterMs).unref();
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await writing;
      await begin();
    },
  };
}
