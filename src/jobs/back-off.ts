const firstPauseMs = 1_000;
const longestMs = 24 * 3_600_000;

/**
 * When a job that failed is tried again, or that it never is.
 *
 * Pauses double from a second on, each shortened by up to half at random, so that what failed together does not come
 * back together. 24 hours after the first failure there is one last try (X9).
 *
 * @param attempts how often the job has failed in a row, this time included
 * @param random from 0 to 1
 * @param mostMs the longest pause, for what must follow soon when the other side is back
 */
export function nextTry(
  failure: { attempts: number; failingSince: Date; now: Date },
  random: number,
  mostMs = longestMs,
): Date | "dead" {
  const now = failure.now.getTime();
  const end = failure.failingSince.getTime() + longestMs;
  if (now >= end) return "dead";
  const pause = Math.min(firstPauseMs * 2 ** (failure.attempts - 1), mostMs);
  return new Date(Math.min(now + pause * (1 - random / 2), end));
}
