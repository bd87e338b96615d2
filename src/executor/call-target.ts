import type { Awaitable } from "../awaitable.ts";
import type { EgressClient } from "../egress/client.ts";
import { EgressError, type EgressFailure } from "../egress/error.ts";
import { signatureOf } from "../egress/signature.ts";
import type { StoredTarget } from "../resources/action/index.ts";
import { depthHeader } from "../telemetry/request-id.ts";
import { traced } from "../telemetry/tracing.ts";
import type { Circuits } from "./circuit.ts";
import type { createSemaphores } from "./semaphores.ts";

/**
 * Why a call of a target failed: as the way out tells it, or
 *
 * | Kind | Meaning |
 * |---|---|
 * | `status` | it answered with another status than 200 to 299 |
 * | `answer` | what it answered cannot be used in the place it was asked for |
 * | `refused` | it asked for a refusal of the call (`forwardedStatusCode`) |
 * | `circuit` | it was not called: it has failed too often just before |
 * | `busy` | it was not called: too many calls of it are under way |
 */
export type FailureKind = EgressFailure | "status" | "answer" | "refused" | "circuit" | "busy";

/** What came of one attempt. `status` is 0 where there was no answer. */
export type Outcome = { status: number; durationMs: number } & (
  | { ok: true; body: Uint8Array }
  | { ok: false; failure: FailureKind }
);

export type Attempt = {
  instanceId: string;
  target: StoredTarget;
  /** The same in every attempt at one delivery. */
  deliveryId: string;
  /** How deep in calls of targets the cause of this one is; 0 for what came from outside. */
  depth: number;
  body: string;
  /** Whether what it answers will be used: only then the body is read. */
  wantsAnswer: boolean;
  /** Tries a target that is spared otherwise. */
  isTest?: boolean;
  signal: AbortSignal | undefined;
};

export type CallTarget = (attempt: Attempt) => Promise<Outcome>;

/**
 * Makes one signed call of a target by the guarded way out; it never throws. The target's timeout spans waiting for a
 * permit as well.
 */
export function createCallTarget(parts: {
  outside: Pick<EgressClient, "call">;
  circuits: Circuits;
  semaphores: ReturnType<typeof createSemaphores>;
  signingKey: (instanceId: string, targetId: string) => Awaitable<Uint8Array | undefined>;
  now: () => Date;
}): CallTarget {
  const { outside, circuits, semaphores } = parts;

  async function send(attempt: Attempt, timeoutMs: number): Promise<Ending> {
    const { target, body, deliveryId, depth, instanceId, signal } = attempt;
    const key = await parts.signingKey(instanceId, target.id);
    const { status, body: answer } = await outside.call({
      method: "POST",
      url: target.url,
      headers: {
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idsvc-signature": signatureOf(key, body, parts.now()) }),
        "idsvc-delivery": deliveryId,
        [depthHeader]: String(depth + 1),
      },
      body,
      timeoutMs,
      signal,
      headOnly: !attempt.wantsAnswer,
    });
    return status >= 200 && status < 300
      ? { ok: true, status, body: answer }
      : { ok: false, status, failure: "status" };
  }

  async function call(attempt: Attempt): Promise<Outcome> {
    const { target, signal } = attempt;
    const begun = performance.now();
    const ended = (result: Ending): Outcome => ({
      ...result,
      durationMs: performance.now() - begun,
    });
    const permit = await semaphores.acquire(target.id, target.timeoutMs, signal);
    if (permit === "full") return ended(failed("busy"));
    if (permit === "late") return ended(failed(signal?.aborted ? "cancelled" : "busy"));
    try {
      if (!attempt.isTest && !circuits.begin(target)) return ended(failed("circuit"));
      let isUp: boolean | undefined;
      try {
        const left = target.timeoutMs - (performance.now() - begun);
        const result = await send(attempt, Math.max(1, left));
        isUp = result.status < 500 && result.status !== 429;
        return ended(result);
      } catch (error) {
        if (!(error instanceof EgressError)) throw error;
        isUp = error.failure === "cancelled" ? undefined : answered.has(error.failure);
        return ended(failed(error.failure));
      } finally {
        circuits.end(target, isUp);
      }
    } finally {
      permit.release();
    }
  }

  return (attempt) => {
    const attributes = {
      "idsvc.target_id": attempt.target.id,
      "idsvc.delivery_id": attempt.deliveryId,
    };
    return traced({ name: "target", kind: "internal", attributes }, async (span) => {
      const outcome = await call(attempt);
      span?.note({ "idsvc.outcome": outcome.ok ? "ok" : outcome.failure });
      return outcome;
    });
  };
}

type Ending =
  | { ok: true; status: number; body: Uint8Array }
  | { ok: false; status: number; failure: FailureKind };

const failed = (failure: FailureKind): Ending => ({ ok: false, status: 0, failure });

// It is there, and says what cannot be used.
const answered: ReadonlySet<EgressFailure> = new Set(["redirect", "encoding", "too_large"]);
