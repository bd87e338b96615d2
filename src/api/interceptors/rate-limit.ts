import { createBuckets, type ShareBuckets, unshared } from "../../authz/buckets.ts";
import { resourceExhausted } from "../../errors.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

/** Counts one call of somebody, or refuses it. */
export type RateLimiter = (who: string) => void;

/**
 * Bounds the calls that each caller makes on each instance (IDSVC_RATE_LIMIT, calls a second). One second's worth may
 * come at once. The count is that of this process, or of those that serve together.
 *
 * @throws RESOURCE_EXHAUSTED RATE_LIMITED
 */
export function createRateLimiter(
  callsPerSecond: number,
  share: ShareBuckets = unshared,
): RateLimiter {
  const buckets = share("calls", createBuckets([{ size: callsPerSecond, seconds: 1 }]));
  return (who) => {
    const wait = buckets.take(who);
    if (wait === 0) return;
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
  `${instanceId}/${caller?.kind === "user" ? `user:${caller.userId}` : `system:${caller?.name ?? ""}`}`;
