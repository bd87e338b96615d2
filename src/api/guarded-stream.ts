import { unavailable } from "../errors.ts";
import { createYielder } from "../yielder.ts";

const everyMs = 500;

/** What ends a stream from outside. */
export type Guard = {
  /** Throws what the caller would be refused with if they opened the stream now. */
  recheck: () => Promise<void>;
  gone: AbortSignal;
  stopping: AbortSignal;
};

/**
 * The messages of a handler's stream, for as long as its caller could open it anew: what they may do is checked twice a
 * second (B7), and nothing is sent after a check that failed. The handler's stream is closed in every case. Between messages others get their turn, also
 * where a handler waits for nothing and a client takes all at once.
 *
 * @throws what the check throws
 * @throws UNAVAILABLE SERVICE_STOPPING when the process is to end: the client resumes with another one
 */
export async function* guarded<T>(
  messages: AsyncIterable<T>,
  { recheck, gone, stopping }: Guard,
): AsyncGenerator<T> {
  const iterator = messages[Symbol.asyncIterator]();
  const yielder = createYielder();
  // No race of promises: one that lives as long as the stream would remember every message that was raced against it.
  let interrupt: ((error: unknown) => void) | undefined;
  let end: { error: Error | undefined } | undefined;
  const finish = (error?: Error) => {
    end ??= { error };
    interrupt?.(end.error);
  };
  const leave = () => finish();
  const stop = () => finish(serviceStopping());
  let timer: NodeJS.Timeout | undefined;
  const check = async () => {
    await recheck().catch((error: unknown) =>
      finish(error instanceof Error ? error : new Error("a check failed", { cause: error })),
    );
    if (end === undefined) timer = setTimeout(() => void check(), everyMs).unref();
  };
  const next = () =>
    new Promise<IteratorResult<T>>((resolve, reject) => {
      interrupt = reject;
      iterator.next().then(resolve, reject);
    });

  gone.addEventListener("abort", leave, { once: true });
  stopping.addEventListener("abort", stop, { once: true });
  if (stopping.aborted) stop();
  if (gone.aborted) leave();
  timer = setTimeout(() => void check(), everyMs).unref();
  try {
    while (end === undefined) {
      const { done, value } = await next();
      if (done || end !== undefined) break;
      yield value;
      await yielder.yieldIfDue();
    }
    requireNoEnd(end);
  } catch (error) {
    if (!gone.aborted) throw error;
  } finally {
    end ??= { error: undefined };
    clearTimeout(timer);
    gone.removeEventListener("abort", leave);
    stopping.removeEventListener("abort", stop);
    // Not awaited: a handler that is stuck waiting would keep the connection.
    void iterator.return?.().catch(() => {});
  }
}

function requireNoEnd(end: { error: Error | undefined } | undefined): void {
  if (end?.error !== undefined) throw end.error;
}

const serviceStopping = () =>
  unavailable("SERVICE_STOPPING", "the service is stopping: open the stream again");
