import { unavailable } from "../../errors.ts";
import type { LoggedEvent } from "../../eventstore/eventstore.ts";
import { ownWork } from "../../eventstore/transaction.ts";
import { handle, type JobHandlers, type RunningJob } from "../../jobs/job.ts";
import type { Deps } from "../../projection/module.ts";
import type { StoredTarget, TargetOf } from "../../resources/action/index.ts";
import type { RowChange } from "../../storage/row-change.ts";
import { currentSpan } from "../../telemetry/tracing.ts";
import type { CallTarget, Outcome } from "../call-target.ts";
import type { Circuits } from "../circuit.ts";
import { eventPayload, type MethodOf, withoutSecretsOf } from "../payload.ts";
import type { TargetCalled } from "../run.ts";
import { changeDelivery, endedAs, noteAttempt } from "./table.ts";
import { deliverEvent, deliveryKind, type DeliveryWork, eventAt, payloadRef } from "./work.ts";

/**
 * At work at once in a process, and of one target: one that hangs leaves slots to all others. Each takes two commits beside the call,
 * and waits for their flushes: with less than these a target hears of events later than they are written.
 */
const parallel = 192;
export const perTarget = 24;

type Parts = Pick<Deps, "events" | "secrets" | "newId" | "now"> & {
  targetOf: TargetOf;
  methodOf: MethodOf;
  callTarget: CallTarget;
  circuits: Circuits;
  report: (called: TargetCalled) => void;
};

/**
 * Makes the deliveries that are due, each until it succeeds or a day has passed (X9). A target that answers with
 * success has taken it; what it says besides is not read.
 */
export function deliveryJobs(parts: Parts): JobHandlers {
  const { events, secrets, now, newId, targetOf } = parts;

  async function bodyOf(
    job: RunningJob<DeliveryWork>,
    target: StoredTarget | undefined,
  ): Promise<{ body: string; event?: LoggedEvent } | undefined> {
    const sequence = BigInt(job.payload.position);
    if (sequence === 0n) {
      const sealed = await secrets.open(payloadRef(job.instanceId, job.id));
      const body = sealed && Buffer.from(sealed).toString();
      if (body === undefined || target?.payloadSecrets === true) return body ? { body } : undefined;
      // It may have been sealed when the target could have secrets, or by a release that gave them to all.
      return { body: withoutSecretsOf(job.payload.cause, body, parts.methodOf) };
    }
    const event = await eventAt(events, job.instanceId, sequence);
    return event && { body: JSON.stringify(eventPayload(event)), event };
  }

  const unitOf = ({ instanceId }: RunningJob<DeliveryWork>) =>
    ownWork({ instanceId, service: deliveryKind.name });

  const end = (job: RunningJob<DeliveryWork>, changes: RowChange[]): Promise<void> =>
    events.transact(unitOf(job), async (tx) => {
      await job.finish(tx);
      tx.write(...changes, secrets.remove(payloadRef(job.instanceId, job.id)));
    });

  async function work(job: RunningJob<DeliveryWork>): Promise<"done"> {
    const { instanceId, id, attempt, signal, payload } = job;
    const { targetId, executionId, cause, depth, trace } = payload;
    if (trace !== undefined) currentSpan()?.join({ traceparent: trace });
    const target = await targetOf(instanceId, targetId);
    const content = await bodyOf(job, target);
    // The target was deleted, or the instance: there is nobody to tell, or nothing.
    if (target === undefined || content === undefined) {
      await end(job, [changeDelivery(job, endedAs("failed", now()))]);
      return "done";
    }
    const call = { instanceId, target, deliveryId: id, depth, signal, wantsAnswer: false };
    const outcome = await parts.callTarget({ ...call, body: content.body });
    parts.report({ instanceId, deliveryId: id, executionId, targetId, cause, attempt, outcome });
    if (!outcome.ok) {
      await events.transact(unitOf(job), async (tx) => {
        await job.fence(tx);
        tx.write(noteAttempt(job, { attempt, outcome }, tx.now));
      });
      throw deliveryFailed(outcome);
    }
    const behind = await Promise.all(payload.behind.map((each) => targetOf(instanceId, each)));
    const next = behind.filter((each) => each !== undefined);
    const at = { instanceId, newId, now: now() };
    await end(job, [
      noteAttempt(job, { attempt, outcome, end: "delivered" }, now()),
      ...(content.event === undefined
        ? []
        : deliverEvent(at, content.event, { executionId, depth, targets: next })),
    ]);
    return "done";
  }

  return handle(deliveryKind, work, {
    parallel,
    perGroup: perTarget,
    limits: parts.circuits.limits,
    whenDead: (job, at) => [changeDelivery(job, endedAs("dead", at))],
  });
}

// Its reason stands with the job as the last error.
const deliveryFailed = (outcome: Outcome) =>
  unavailable(
    `DELIVERY_${(outcome.ok ? "ok" : outcome.failure).toUpperCase()}`,
    "the target did not take the delivery",
  );
