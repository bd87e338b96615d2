import { setTimeout as delay } from "node:timers/promises";

const usualStepMs = 50;

/**
 * Does a check, and tells of a wrong one only at full steps of time, 50 ms unless told otherwise: what was read and written for somebody, and not for
 * nobody, takes some milliseconds more, which would tell who exists (abuse case D49). Right ones wait for nothing.
 */
export async function evenly<T extends boolean | { isRight: boolean }>(
  check: () => Promise<T>,
  stepMs = usualStepMs,
): Promise<T> {
  const begin = performance.now();
  const outcome = await check();
  if (typeof outcome === "boolean" ? outcome : outcome.isRight) return outcome;
  await delay(stepMs - ((performance.now() - begin) % stepMs));
  return outcome;
}
