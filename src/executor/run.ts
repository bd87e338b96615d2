import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Awaitable } from "../awaitable.ts";
import { DomainError } from "../errors.ts";
import type { StoredTarget } from "../resources/action/index.ts";
import type { CallTarget, FailureKind, Outcome } from "./call-target.ts";
import type { PlannedExecution } from "./plan.ts";
import { executionFailed, forwardedBy, forwardedRefusal } from "./refusal.ts";

/** What an execution is run for: the kind of its condition, and the method, event or function. */
export type Cause = { type: "request" | "response" | "event" | "function" | "test"; value: string };

/** What is told of an attempt at a target, whatever became of it. */
export type TargetCalled = {
  instanceId: string;
  deliveryId: string;
  executionId: string;
  targetId: string;
  cause: Cause;
  attempt: number;
  outcome: Outcome;
};

/** A call of an asynchronous target that is still to be made. */
export type Later = { target: StoredTarget; executionId: string; cause: Cause; body: string };

/** One run of an execution whose targets are called while somebody waits. */
export type Run = {
  instanceId: string;
  execution: PlannedExecution;
  cause: Cause;
  depth: number;
  signal: AbortSignal | undefined;
  /** What the next target is told: each sees what those before it have changed. */
  payload: (target: StoredTarget) => JsonObject;
  /** Takes what a target answered. What it throws as a refusal makes the answer unusable. */
  accept: (answer: JsonValue, target: StoredTarget) => Awaitable<void>;
  /** Asynchronous targets are put here, to be called when the work is done. */
  later: Later[];
};

export type RunTargets = (run: Run) => Promise<void>;

/**
 * Calls the targets of an execution one after the other (specification 11.1).
 *
 * @throws FAILED_PRECONDITION EXECUTION_FAILED when a target fails that has `interrupt_on_error`
 * @throws EXECUTION_REFUSED, of the kind that such a target asked for
 */
export function createRunTargets(parts: {
  callTarget: CallTarget;
  newId: () => string;
  parseJson: (bytes: Uint8Array) => JsonValue;
  report: (called: TargetCalled) => void;
}): RunTargets {
  const { callTarget, newId, parseJson, report } = parts;

  /** The answer in JSON, or what is wrong with it. */
  function answerOf(body: Uint8Array): { json: JsonValue } | "empty" | "unreadable" {
    if (body.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))) return "empty";
    try {
      return { json: parseJson(body) };
    } catch (error) {
      if (error instanceof DomainError) return "unreadable";
      throw error;
    }
  }

  async function use(run: Run, target: StoredTarget, outcome: Outcome, deliveryId: string) {
    if (!outcome.ok) return outcome.failure;
    if (target.kind === "rest_webhook") return undefined;
    const answer = answerOf(outcome.body);
    if (answer === "empty") return undefined;
    if (answer === "unreadable") return "answer";
    const forwarded = outcome.status === 200 ? forwardedBy(answer.json) : undefined;
    if (forwarded !== undefined) {
      return target.interruptOnError
        ? forwardedRefusal(forwarded, { targetId: target.id, deliveryId })
        : "refused";
    }
    try {
      await run.accept(answer.json, target);
      return undefined;
    } catch (error) {
      if (error instanceof DomainError && error.kind !== "internal") return "answer";
      throw error;
    }
  }

  return async (run) => {
    const { instanceId, execution, cause, depth, signal } = run;
    for (const target of execution.targets) {
      const body = JSON.stringify(run.payload(target));
      if (target.isAsync) {
        run.later.push({ target, executionId: execution.id, cause, body });
        continue;
      }
      const deliveryId = newId();
      const wantsAnswer = target.kind === "rest_request_response";
      const call = { instanceId, target, deliveryId, depth, body, signal, wantsAnswer };
      const outcome = await callTarget(call);
      const wrong = await use(run, target, outcome, deliveryId);
      const failure: FailureKind | undefined = wrong instanceof DomainError ? "refused" : wrong;
      const { status, durationMs } = outcome;
      report({
        instanceId,
        deliveryId,
        cause,
        attempt: 1,
        executionId: execution.id,
        targetId: target.id,
        outcome: failure === undefined ? outcome : { ok: false, failure, status, durationMs },
      });
      if (wrong instanceof DomainError) throw wrong;
      if (failure === undefined || !target.interruptOnError) continue;
      throw executionFailed({ targetId: target.id, deliveryId });
    }
  };
}
