import type { ChildProcess } from "node:child_process";

/** How often a process that another one keeps running says that its event loop turns. */
export const aliveEveryMs = 1_000;

/** Who ends sooner than this is replaced after a pause; who never served after one that is twice as long each time. */
const soonMs = 10_000;
const leastPauseMs = 1_000;
const longestPauseMs = 30_000;

/** So often one may fail to start. */
export const mostFailures = 5;

/** A process that is replaced when it ends or hangs. */
export type Kept = {
  process: ChildProcess | undefined;
  startedAt: number;
  isReady: boolean;
  heardAt: number;
  /** How often in a row it has ended before it was ready. */
  failures: number;
};

export const emptyKept = (): Kept => ({
  ...{ process: undefined, isReady: false, failures: 0 },
  ...{ startedAt: 0, heardAt: 0 },
});

export function noteStart(kept: Kept, process: ChildProcess): void {
  const now = performance.now();
  Object.assign(kept, { process, startedAt: now, heardAt: now, isReady: false });
}

/** @returns how long it lived, and for how long nobody takes its place: who served for a while is replaced at once */
export function noteEnd(kept: Kept): { lived: number; pauseMs: number } {
  const lived = Math.round(performance.now() - kept.startedAt);
  kept.failures = kept.isReady ? 0 : kept.failures + 1;
  kept.process = undefined;
  const growing = Math.min(2 ** (kept.failures - 1) * leastPauseMs, longestPauseMs);
  return { lived, pauseMs: kept.failures > 0 ? growing : lived < soonMs ? leastPauseMs : 0 };
}

/**
 * Looks each second for processes that are ready and have said nothing for so long, and kills them.
 *
 * @param found is told of each first
 */
export function killSilent<K extends Kept>(
  silentMs: number,
  running: () => readonly K[],
  found: (kept: K) => void,
): NodeJS.Timeout {
  let lookedAt = performance.now();
  return setInterval(() => {
    const now = performance.now();
    // After a pause of this process itself nobody could be heard.
    const wasAsleep = now - lookedAt > silentMs / 2;
    lookedAt = now;
    for (const kept of running()) {
      if (wasAsleep) kept.heardAt = now;
      if (!kept.isReady || now - kept.heardAt < silentMs) continue;
      kept.heardAt = now;
      found(kept);
      kept.process?.kill("SIGKILL");
    }
  }, aliveEveryMs);
}
