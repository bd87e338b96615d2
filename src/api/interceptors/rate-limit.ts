import { editorOf } from "../../authz/context.ts";
import { resourceExhausted } from "../../errors.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

const maxCallers = 100_000;

type Bucket = { tokens: number; at: number };

/** Counts one call of somebody, or refuses it. */
export type RateLimiter = (who: string) => void;

/**
 * Bounds the calls that each caller makes on each instance (IDSVC_RATE_LIMIT, calls a second). One second's worth may
 * come at once. The count is that of this process.
 *
 * @throws RESOURCE_EXHAUSTED RATE_LIMITED
 */
export function createRateLimiter(callsPerSecond: number): RateLimiter {
  const buckets = new Map<string, Bucket>();
  return (who) => {
    const now = performance.now();
    const bucket = buckets.get(who) ?? { tokens: callsPerSecond, at: now };
    const gained = ((now - bucket.at) / 1000) * callsPerSecond;
    const tokens = Math.min(callsPerSecond, bucket.tokens + gained);
    const isAllowed = tokens >= 1;
    // Last used last, so that what is dropped is who has been quiet the longest.
    buckets.delete(who);
    buckets.set(who, { tokens: isAllowed ? tokens - 1 : tokens, at: now });
    if (buckets.size > maxCallers) dropFirst(buckets);
    if (isAllowed) return;
    const wait = Math.max(1, Math.ceil((1 - tokens) / callsPerSecond));
    throw resourceExhausted(
      "RATE_LIMITED",
      `a caller may make ${callsPerSecond} calls a second: try again in ${wait} s`,
      { retryAfterSeconds: wait },
    );
  };
}

export const rateLimit =
  ({ limitRate }: Ports): InterceptorFactory =>
  ({ access }) => {
    if (limitRate === undefined || access === "public") return undefined;
    return { check: (call) => limitRate(callerOf(call)) };
  };

const callerOf = ({ instanceId, caller }: Call): string =>
  `${instanceId}/${caller === undefined ? "" : editorOf(caller)}`;

function dropFirst(buckets: Map<string, Bucket>): void {
  const [first] = buckets.keys();
  if (first !== undefined) buckets.delete(first);
}
