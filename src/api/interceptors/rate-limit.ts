import { createBuckets, type ShareBuckets, unshared } from "../../authz/buckets.ts";
import { whenKnown } from "../../awaitable.ts";
import { resourceExhausted } from "../../errors.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import type { Ports } from "./index.ts";

/** Calls a second; 0 sets no limit. Changes are calls that do more than read. */
export type RateLimits = Record<
  "caller" | "callerChanges" | "instance" | "instanceChanges",
  number
>;

type Limited = Pick<Call, "instanceId" | "caller">;

/** Counts one call of somebody, or refuses it. */
export type RateLimiter = (call: Limited, isChange: boolean) => void;

/**
 * Bounds the calls that each caller makes on each instance, and those of all callers of an instance but system callers. One
 * second's worth may come at once. The count is that of this process, or of those that serve together.
 *
 * @throws RESOURCE_EXHAUSTED RATE_LIMITED
 */
export function createRateLimiter(limits: RateLimits, share: ShareBuckets = unshared): RateLimiter {
  const bucketsOf = (kind: keyof RateLimits) =>
    limits[kind] === 0
      ? undefined
      : share(`rate ${kind}`, createBuckets([{ size: limits[kind], seconds: 1 }]));
  const buckets = {
    caller: bucketsOf("caller"),
    callerChanges: bucketsOf("callerChanges"),
    instance: bucketsOf("instance"),
    instanceChanges: bucketsOf("instanceChanges"),
  };

  function take(kind: keyof RateLimits, key: string): void {
    const wait = buckets[kind]?.take(key) ?? 0;
    if (wait > 0) throw rateLimited(kind, limits[kind], wait);
  }

  return (call, isChange) => {
    const { instanceId, caller } = call;
    const who = callerOf(call);
    take("caller", who);
    if (isChange) take("callerChanges", who);
    if (caller?.kind !== "user") return;
    take("instance", instanceId);
    if (isChange) take("instanceChanges", instanceId);
  };
}

const rateLimited = (kind: keyof RateLimits, most: number, wait: number) => {
  const whose = kind.startsWith("caller") ? "a caller" : "all callers of an instance";
  const what = kind.endsWith("Changes") ? "changes" : "calls";
  return resourceExhausted(
    "RATE_LIMITED",
    `${whose} may make ${most} ${what} a second: try again in ${wait} s`,
    { retryAfterSeconds: wait },
  );
};

/** Bounds what one caller calls in a second, and what the callers of an instance call in a day (its quota of requests). */
export const rateLimit =
  ({ limitRate, usage }: Ports): InterceptorFactory =>
  ({ access, isChange }) => {
    if (access === "public") return undefined;
    return {
      check(call) {
        limitRate(call, isChange);
        const { caller, instanceId } = call;
        if (caller?.kind !== "user") return undefined;
        return whenKnown(usage.require("requests", instanceId), () =>
          usage.count("requests", instanceId),
        );
      },
    };
  };

const callerOf = ({ instanceId, caller }: Limited): string =>
  `${instanceId}/${caller?.kind === "user" ? `user:${caller.userId}` : `system:${caller?.name ?? ""}`}`;
