import type { Parameters } from "../form.ts";
import { refuse } from "./refusal.ts";

/** Seconds since the user last authenticated; 0 makes them do it again. @throws invalid_request for no whole number */
export function maxAgeOf(parameters: Parameters): number | undefined {
  const asked = parameters.get("max_age");
  if (asked === undefined) return undefined;
  const seconds = /^\d{1,16}$/.test(asked) ? Number(asked) : Number.NaN;
  if (Number.isSafeInteger(seconds)) return seconds;
  throw refuse("invalid_request", "max_age must be a whole number of seconds, 0 or more");
}

// Two replicas need not agree on the time to the second.
const skewMs = 5_000;

/** Whether what the user proved is too old for the request, or of a clock that went back since: nobody knows how old that is. */
export function isStale(maxAgeSeconds: number | undefined, authTime: Date, now: Date): boolean {
  if (maxAgeSeconds === undefined) return false;
  const ageMs = now.getTime() - authTime.getTime();
  return maxAgeSeconds === 0 || ageMs > maxAgeSeconds * 1000 || ageMs < -skewMs;
}
