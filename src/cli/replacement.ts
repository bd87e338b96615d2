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
export type Supervised = {
  process: ChildProcess | undefined;
  startedAt: number;
  isReady: boolean;
  heardAt: number;
  /** How often in a row it has ended before it was ready. */
  failures: number;
};

export const newSupervised = (): Supervised => ({
  process: undefined,
  isReady: false,
  failures: 0,
  startedAt: 0,
  heardAt: 0,
});

export function noteStart(supervised: Supervised, process: ChildProcess): void {
  const now = performance.now();
  Object.assign(supervised, { process, startedAt: now, heardAt: now, isReady: false });
}

/** @returns how long it lived, and how long it is until another one is started: at once where it has served for a while */
export function noteEnd(supervised: Supervised): { lived: number; pauseMs: number } {
  const lived = Math.round(performance.now() - supervised.startedAt);
  supervised.failures = supervised.isReady ? 0 : supervised.failures + 1;
  supervised.process = undefined;
  const growing = Math.min(2 ** (supervised.failures - 1) * leastPauseMs, longestPauseMs);
  return { lived, pauseMs: supervised.failures > 0 ? growing : lived < soonMs ? leastPauseMs : 0 };
}

/**
 * Looks each second for processes that are ready and have said nothing for so long, and kills them.
 *
 * @param found is told of each first
 */
export function killSilent<K extends Supervised>(
  silentMs: number,
  running: () => readonly K[],
  found: (supervised: K) => void,
): NodeJS.Timeout {
  let lookedAt = performance.now();
  return setInterval(() => {
    const now = performance.now();
    // After a pause of this process itself nobody could be heard.
    const wasAsleep = now - lookedAt > silentMs / 2;
    lookedAt = now;
    for (const supervised of running()) {
      if (wasAsleep) supervised.heardAt = now;
      if (!supervised.isReady || now - supervised.heardAt < silentMs) continue;
      supervised.heardAt = now;
      found(supervised);
      supervised.process?.kill("SIGKILL");
    }
  }, aliveEveryMs);
}
