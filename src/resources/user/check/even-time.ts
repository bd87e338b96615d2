import { type Awaitable, whenKnown } from "../../../awaitable.ts";
import { setTimeout as delay } from "node:timers/promises";

const usualStepMs = 50;

/**
 * Does a check, and tells of a wrong one only at full steps of time, 50 ms unless told otherwise: what was read and written for somebody, and not for
 * nobody, takes some milliseconds more, which would tell who exists (abuse case D49). Right ones wait for nothing.
 */
export function evenly<T extends boolean | { isRight: boolean }>(
  check: () => Promise<T>,
  stepMs?: number,
): Promise<T>;
export function evenly<T extends boolean | { isRight: boolean }>(
  check: () => Awaitable<T>,
  stepMs?: number,
): Awaitable<T>;
export function evenly<T extends boolean | { isRight: boolean }>(
  check: () => Awaitable<T>,
  stepMs = usualStepMs,
): Awaitable<T> {
  const begin = performance.now();
  return whenKnown(check(), (outcome) => {
    if (typeof outcome === "boolean" ? outcome : outcome.isRight) return outcome;
    return delay(stepMs - ((performance.now() - begin) % stepMs), outcome);
  });
}
