import { EgressError } from "./error.ts";

/** How long a whole outgoing call may take, name resolution and body included, and who may end it before. */
export type CallLimits = { timeoutMs: number; signal?: AbortSignal | undefined };

/**
 * Runs work that ends with its deadline, whatever the work itself does: one that never settles is left behind.
 * The work's signal fires when it is over, for any reason, so that nothing it opened stays.
 *
 * @throws EgressError timeout, cancelled
 */
export async function withinDeadline<T>(
  host: string,
  { timeoutMs, signal }: CallLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const cancel = () => ending.abort(new EgressError("cancelled", host));
  const timer = setTimeout(() => ending.abort(new EgressError("timeout", host)), timeoutMs);
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const ended = new Promise<never>((_, reject) => {
      const end = () => reject(endOf(ending.signal));
      if (ending.signal.aborted) end();
      else ending.signal.addEventListener("abort", end, { once: true });
    });
    return await Promise.race([ended, ending.signal.aborted ? ended : work(ending.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
    ending.abort();
  }
}

/** What a call that was ended is answered with. */
export function endOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error("the call is over");
}
